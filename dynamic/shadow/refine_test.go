package shadow

import "testing"

// sets of elements, spelt out.
func elements(b, e, k uintptr) map[uintptr]bool {
	m := map[uintptr]bool{}
	for i := b; i <= e; i += k {
		m[i] = true
	}
	return m
}

// TestTable has one case for each row of Table I, in its order, and for each condition
// one that breaks only that.
func TestTable(t *testing.T) {
	for _, test := range []struct {
		row     string
		mode    uint32
		d, n    uintptr
		b, e, k uintptr
		want    uint32
		wantD   uintptr
	}{
		{"COARSE 1: all", Coarse, 0, 64, 0, 63, 1, Coarse, 0},
		{"COARSE 2: <0:e:1>", Coarse, 0, 64, 0, 9, 1, Split, 10},
		{"COARSE 2: one element", Coarse, 0, 64, 0, 0, 1, Split, 1},
		{"COARSE 3: <b:n-1:1>", Coarse, 0, 64, 9, 63, 1, Split, 9},
		{"COARSE 4: blocks", Coarse, 0, 64, 16, 31, 1, Block, 16},
		{"COARSE 4: gcd of n too", Coarse, 0, 72, 16, 31, 1, Block, 8},
		{"COARSE 4: gcd 1 at the start of the array", Coarse, 0, 63, 16, 31, 1, Fine, 0},
		{"COARSE 4: not with k", Coarse, 0, 64, 16, 30, 2, Fine, 0},
		{"COARSE 5: stride", Coarse, 0, 64, 1, 61, 4, Stride, 4},
		{"COARSE 5: from 0", Coarse, 0, 64, 0, 62, 2, Stride, 2},
		{"COARSE 5: k does not divide n", Coarse, 0, 65, 1, 61, 4, Fine, 0},
		{"COARSE 5: begins late", Coarse, 0, 64, 5, 61, 4, Fine, 0},
		{"COARSE 5: ends early", Coarse, 0, 64, 1, 57, 4, Fine, 0},
		{"COARSE 6: first quarter", Coarse, 0, 64, 3, 15, 1, Prefix, 16},
		{"COARSE 6: with k", Coarse, 0, 64, 3, 15, 4, Prefix, 16},
		{"COARSE 6: n/4 is no integer", Coarse, 0, 65, 3, 16, 1, Prefix, 17},
		{"COARSE 6: a quarter is too much", Coarse, 0, 64, 3, 16, 1, Fine, 0},
		{"BLOCK: smaller", Block, 16, 64, 8, 23, 1, Block, 8},
		{"BLOCK: the same", Block, 16, 64, 16, 47, 1, Block, 16},
		{"BLOCK: k", Block, 16, 64, 0, 62, 2, Fine, 0},
		{"BLOCK: gcd 1", Block, 16, 64, 8, 22, 1, Fine, 0},
		{"SPLIT 1: lower part", Split, 10, 64, 0, 9, 1, Split, 10},
		{"SPLIT 2: upper part", Split, 10, 64, 10, 63, 1, Split, 10},
		{"SPLIT 3: both", Split, 10, 64, 0, 63, 1, Split, 10},
		{"SPLIT 4: blocks", Split, 16, 64, 24, 31, 1, Block, 8},
		{"SPLIT 4: gcd 1", Split, 33, 64, 24, 31, 1, Fine, 0},
		{"SPLIT 4: k", Split, 16, 64, 24, 30, 2, Fine, 0},
		{"SPLIT 5: first quarter", Split, 3, 64, 5, 7, 1, Prefix, 8},
		{"SPLIT 5: split further on", Split, 9, 64, 5, 7, 1, Prefix, 10},
		{"SPLIT 5: split too far on", Split, 33, 64, 5, 7, 1, Fine, 0},
		{"SPLIT 5: footprint too far on", Split, 3, 64, 5, 16, 1, Fine, 0},
		{"STRIDE: the same", Stride, 4, 64, 1, 61, 4, Stride, 4},
		{"STRIDE: classes of a coarser one", Stride, 4, 64, 1, 63, 2, Stride, 4},
		{"STRIDE: all", Stride, 4, 64, 0, 63, 1, Stride, 4},
		{"STRIDE: lcm", Stride, 4, 48, 1, 43, 6, Stride, 12},
		{"STRIDE: multiple", Stride, 4, 64, 1, 57, 8, Stride, 8},
		{"STRIDE: lcm does not divide n", Stride, 4, 64, 1, 61, 6, Fine, 0},
		{"STRIDE: begins late", Stride, 4, 64, 9, 57, 8, Fine, 0},
		{"STRIDE: ends early", Stride, 4, 64, 1, 49, 8, Fine, 0},
		{"STRIDE: each its own", Stride, 4, 16, 3, 3, 16, Fine, 0},
		{"PREFIX 1: rest", Prefix, 8, 64, 8, 63, 1, Prefix, 8},
		{"PREFIX 2: inside", Prefix, 8, 64, 2, 6, 2, Prefix, 8},
		{"PREFIX 3: twice", Prefix, 8, 64, 2, 10, 1, Prefix, 20},
		{"PREFIX 3: up to half", Prefix, 8, 64, 2, 31, 1, Prefix, 62},
		{"PREFIX 3: half is too much", Prefix, 8, 64, 2, 32, 1, Fine, 0},
		{"PREFIX: the prose, not the table", Prefix, 8, 64, 0, 63, 1, Prefix, 8},
		{"PREFIX: rest in steps", Prefix, 8, 64, 9, 63, 2, Fine, 0},
		{"any", Fine, 0, 64, 9, 63, 2, Fine, 0},
	} {
		got, d := Refine(test.mode, test.d, test.n, test.b, test.e, test.k)
		if got != test.want || got != Fine && d != test.wantD {
			t.Errorf("%s: mode %d(%d), want %d(%d)", test.row, got, d, test.want, test.wantD)
		}
	}
}

// TestRefineProperties tries all small arrays, partitions and footprints: what Refine
// returns is sufficient, a refinement, and the same if that is sufficient already.
func TestRefineProperties(t *testing.T) {
	count := 0
	for _, n := range []uintptr{5, 6, 8, 12, 13, 16} {
		for mode := uint32(Coarse); mode <= Fine; mode++ {
			for d := uintptr(1); d < n; d++ {
				if (mode == Block || mode == Stride) && (n%d != 0 || d == 1) || (mode == Coarse || mode == Fine) && d > 1 {
					continue
				}
				for b := uintptr(0); b < n; b++ {
					for k := uintptr(1); k < n; k++ {
						for e := b; e < n; e += k {
							count++
							properties(t, mode, d, n, b, e, k)
						}
					}
				}
			}
		}
	}
	if count < 10000 {
		t.Errorf("only %d cases", count)
	}
}

func properties(t *testing.T, mode uint32, d, n, b, e, k uintptr) {
	m, x := Refine(mode, d, n, b, e, k)
	f := elements(b, e, k)
	// Parts are numbered without gaps, First is the first element of each.
	first := map[uintptr]uintptr{}
	for i := uintptr(0); i < n; i++ {
		j := Part(m, x, i)
		if _, ok := first[j]; !ok {
			first[j] = i
			if First(m, x, j) != i || j != uintptr(len(first)-1) {
				t.Fatalf("%d(%d) of %d: part %d begins at %d", m, x, n, j, i)
			}
		}
		if Part(mode, d, i) != Part(mode, d, first[j]) {
			t.Fatalf("%d(%d) to %d(%d) of %d: elements %d and %d come together", mode, d, m, x, n, i, first[j])
		}
		if f[i] != f[first[j]] {
			t.Fatalf("%d(%d) of %d is not sufficient for <%d:%d:%d>: elements %d and %d", m, x, n, b, e, k, i, first[j])
		}
	}
	if uintptr(len(first)) != Parts(m, x, n) {
		t.Fatalf("%d(%d) of %d has %d parts, not %d", m, x, n, len(first), Parts(m, x, n))
	}
	if sufficient := Sufficient(mode, d, n, b, e, k); sufficient {
		if m != mode || m != Fine && x != d {
			t.Fatalf("%d(%d) is sufficient, but becomes %d(%d)", mode, d, m, x)
		}
	} else {
		for i := uintptr(0); i < n; i++ {
			for j := i; j < n; j++ {
				if Part(mode, d, i) == Part(mode, d, j) && f[i] != f[j] {
					return
				}
			}
		}
		// One element is every range <b:b:k>; the rest is decided by sets.
		if b != e {
			t.Fatalf("%d(%d) of %d is called insufficient for <%d:%d:%d>", mode, d, n, b, e, k)
		}
	}
}

// TestMerge tries all small ranges: a merge that is accepted is the union.
func TestMerge(t *testing.T) {
	const n = 9
	accepted := 0
	for b := uintptr(0); b < n; b++ {
		for k := uintptr(1); k < n; k++ {
			for e := b; e < n; e += k {
				for b2 := uintptr(0); b2 < n; b2++ {
					for k2 := uintptr(1); k2 < n; k2++ {
						for e2 := b2; e2 < n; e2 += k2 {
							f := footprint{b: b, e: e, k: k}
							if !f.merge(b2, e2, k2) {
								continue
							}
							accepted++
							want := elements(b, e, k)
							for i := range elements(b2, e2, k2) {
								want[i] = true
							}
							got := elements(f.b, f.e, f.k)
							if len(got) != len(want) {
								t.Fatalf("<%d:%d:%d> and <%d:%d:%d> give <%d:%d:%d>", b, e, k, b2, e2, k2, f.b, f.e, f.k)
							}
							for i := range want {
								if !got[i] {
									t.Fatalf("<%d:%d:%d> and <%d:%d:%d> give <%d:%d:%d>", b, e, k, b2, e2, k2, f.b, f.e, f.k)
								}
							}
						}
					}
				}
			}
		}
	}
	// The algebraic rules of section V-A must all be there.
	for _, r := range [][6]uintptr{{3, 3, 1, 3, 3, 1}, {3, 3, 1, 5, 5, 1}, {3, 3, 1, 1, 1, 1}, {2, 8, 2, 10, 10, 1}, {2, 8, 2, 0, 0, 1}, {2, 8, 2, 4, 4, 1}} {
		f := footprint{b: r[0], e: r[1], k: r[2]}
		if !f.merge(r[3], r[4], r[5]) {
			t.Errorf("%v are not merged", r)
		}
	}
	if accepted < 1000 {
		t.Errorf("only %d merges", accepted)
	}
}
