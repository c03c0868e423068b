package pta

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// twin is a Set and what it should hold.
type twin struct {
	s Set
	m map[uint32]bool
}

func (w *twin) check(t *testing.T, what string) {
	t.Helper()
	got := w.s.Elems(nil)
	want := make([]uint32, 0, len(w.m))
	for x := range w.m {
		want = append(want, x)
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
	if w.s.Len() != len(w.m) || w.s.Empty() != (len(w.m) == 0) {
		t.Fatalf("%s: Len %d, Empty %v, want %d", what, w.s.Len(), w.s.Empty(), len(w.m))
	}
	for i, c := range w.s.chunks {
		if c.count() == 0 {
			t.Fatalf("%s: chunk %d is empty", what, i)
		}
	}
}

// TestSet runs random operations on sets and on maps. All sets are checked
// after every operation, so that a chunk changed while shared is noticed.
func TestSet(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		span := []uint32{20, 700, 5000, 100000}[seed%4]
		ws := make([]*twin, 5)
		for i := range ws {
			ws[i] = &twin{m: map[uint32]bool{}}
		}
		for range 150 {
			a, b, c := ws[r.IntN(5)], ws[r.IntN(5)], ws[r.IntN(5)]
			what := ""
			switch r.IntN(7) {
			case 0:
				what = "Add"
				for range r.IntN(40) {
					x := r.Uint32N(span)
					if a.s.Add(x) == a.m[x] {
						t.Fatalf("Add %d", x)
					}
					a.m[x] = true
				}
			case 1:
				what = "UnionDiff"
				if a == b || a == c || b == c {
					continue
				}
				any := false
				for x := range b.m {
					if !a.m[x] {
						a.m[x], c.m[x], any = true, true, true
					}
				}
				if got := a.s.UnionDiff(&b.s, &c.s); got != any {
					t.Fatalf("UnionDiff = %v, want %v", got, any)
				}
			case 2:
				what = "addMeet"
				if a == b || a == c {
					continue
				}
				a.s.addMeet(&b.s, &c.s)
				for x := range b.m {
					if c.m[x] {
						a.m[x] = true
					}
				}
			case 3:
				what = "addMinus"
				if a == b || a == c {
					continue
				}
				a.s.addMinus(&b.s, &c.s)
				for x := range b.m {
					if !c.m[x] {
						a.m[x] = true
					}
				}
			case 4:
				what = "addAll"
				if a == b {
					continue
				}
				a.s.addAll(&b.s)
				for x := range b.m {
					a.m[x] = true
				}
			case 5:
				what = "Clear"
				if r.IntN(4) == 0 {
					a.s.Clear()
					a.m = map[uint32]bool{}
				}
			case 6:
				what = "queries"
				x := r.Uint32N(span)
				if a.s.Has(x) != a.m[x] {
					t.Fatalf("Has %d", x)
				}
				meets, equal := false, len(a.m) == len(b.m)
				for x := range a.m {
					meets = meets || b.m[x]
					equal = equal && b.m[x]
				}
				if a.s.Meets(&b.s) != meets || a.s.Equal(&b.s) != equal {
					t.Fatal("Meets or Equal")
				}
				if x, ok := a.s.One(); ok != (len(a.m) == 1) || ok && !a.m[x] {
					t.Fatal("One")
				}
			}
			for _, w := range ws {
				w.check(t, what)
			}
		}
	}
}

func TestSetOf(t *testing.T) {
	s := setOf(5, 3, 9, 3)
	if got := s.Elems(nil); !slices.Equal(got, []uint32{3, 5, 9}) {
		t.Fatal(got)
	}
}
