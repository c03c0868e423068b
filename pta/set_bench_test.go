package pta

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"golang.org/x/tools/container/intsets"
)

// The sizes of sets in an analysis of a net/http server (hybrid, k=1: 213,027
// sets that are not empty, 515,281 cells; 375,666 unions), as quantiles: what
// flows, and what it flows into. Chunks of 512 held 7 elements in the mean, 3 in
// the median. docs/decisions/0004-points-to-sets.md says what was done with it.
var (
	quantiles = []float64{0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1}
	sizesFrom = []int{1, 1, 2, 9, 20, 70, 237, 1335}
	sizesInto = []int{1, 1, 14, 93, 196, 369, 3451, 4523}
)

// sizeAt returns the size at quantile q, between those that were measured.
func sizeAt(sizes []int, q float64) int {
	for i := 1; i < len(quantiles); i++ {
		if q <= quantiles[i] {
			f := (q - quantiles[i-1]) / (quantiles[i] - quantiles[i-1])
			return sizes[i-1] + int(f*float64(sizes[i]-sizes[i-1]))
		}
	}
	return sizes[len(sizes)-1]
}

// workload is what is done with sets: unions of sources into targets, in this
// order; then each target is met with a filter, and what a filter has is taken
// from it.
type workload struct {
	sources [][]uint32
	targets int
	unions  [][2]int // source, target
	filters [][]uint32
}

// solveLike makes a workload with the measured sizes. Some chunks are in many
// sets, most in few.
func solveLike() *workload {
	r := rand.New(rand.NewPCG(1, 2))
	const universe = 515_281
	draw := func(n int) []uint32 {
		var xs []uint32
		for len(xs) < n {
			u := r.Float64()
			at := uint32(u*u*u*universe) &^ 511
			for range min(n-len(xs), 1+r.IntN(13)) {
				xs = append(xs, at+r.Uint32N(512))
			}
		}
		slices.Sort(xs)
		return slices.Compact(xs)
	}
	w := &workload{targets: 1000}
	for i := range 4000 {
		w.sources = append(w.sources, draw(sizeAt(sizesFrom, (float64(i)+0.5)/4000)))
	}
	perm := r.Perm(len(w.sources))
	for t := range w.targets {
		want := sizeAt(sizesInto, (float64(t)+0.5)/float64(w.targets))
		// Targets of like size get sources in common: they are near each other in
		// the graph.
		at := r.IntN(len(perm))
		for have := 0; have < want; at++ {
			s := perm[at%len(perm)]
			have += len(w.sources[s])
			w.unions = append(w.unions, [2]int{s, t})
		}
	}
	r.Shuffle(len(w.unions), func(i, j int) { w.unions[i], w.unions[j] = w.unions[j], w.unions[i] })
	for range 20 {
		w.filters = append(w.filters, draw(5000))
	}
	return w
}

// setOps are the operations of the solver in one representation.
type setOps[S any] struct {
	make      func() S
	add       func(s S, x uint32)
	unionDiff func(s, t, diff S) bool
	meet      func(dst, a, b S)
	minus     func(dst, a, b S)
	each      func(s S, f func(uint32))
}

func benchmarkSets[S any](b *testing.B, o setOps[S]) {
	w := solveLike()
	build := func(xs []uint32) S {
		s := o.make()
		for _, x := range xs {
			o.add(s, x)
		}
		return s
	}
	var sources, filters []S
	for _, xs := range w.sources {
		sources = append(sources, build(xs))
	}
	for _, xs := range w.filters {
		filters = append(filters, build(xs))
	}
	unions := func() []S {
		ts := make([]S, w.targets)
		for i := range ts {
			ts[i] = o.make()
		}
		for _, u := range w.unions {
			o.unionDiff(ts[u[1]], sources[u[0]], o.make())
		}
		return ts
	}
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	targets := unions()
	size := heap() - before
	per := func(b *testing.B, n int) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/set")
		b.ReportMetric(0, "ns/op")
	}
	b.Run("union", func(b *testing.B) {
		for b.Loop() {
			unions()
		}
		per(b, len(w.unions))
		b.ReportMetric(float64(size)/float64(w.targets), "B/set")
	})
	b.Run("add", func(b *testing.B) {
		for b.Loop() {
			for _, xs := range w.sources {
				build(xs)
			}
		}
		per(b, len(w.sources))
	})
	b.Run("meet", func(b *testing.B) {
		for b.Loop() {
			for i, t := range targets {
				o.meet(o.make(), t, filters[i%len(filters)])
			}
		}
		per(b, len(targets))
	})
	b.Run("minus", func(b *testing.B) {
		for b.Loop() {
			for i, t := range targets {
				o.minus(o.make(), t, filters[i%len(filters)])
			}
		}
		per(b, len(targets))
	})
	sum := uint32(0)
	b.Run("each", func(b *testing.B) {
		for b.Loop() {
			for _, t := range targets {
				o.each(t, func(x uint32) { sum += x })
			}
		}
		per(b, len(targets))
	})
	runtime.KeepAlive(sources)
}

// BenchmarkSets compares representations of points-to sets on what a solve does.
func BenchmarkSets(b *testing.B) {
	b.Run(fmt.Sprintf("Set-%d-%d", smallMax, chunkWords*64), func(b *testing.B) {
		benchmarkSets(b, setOps[*Set]{
			func() *Set { return new(Set) }, func(s *Set, x uint32) { s.Add(x) },
			(*Set).UnionDiff, (*Set).addMeet, (*Set).addMinus, (*Set).Each,
		})
	})
	b.Run("slice", func(b *testing.B) { benchmarkSets(b, sliceOps) })
	b.Run("bitmap", func(b *testing.B) { benchmarkSets(b, bitmapOps) })
	b.Run("roaring", func(b *testing.B) { benchmarkSets(b, roaringOps) })
	b.Run("sparse", func(b *testing.B) { benchmarkSets(b, sparseOps) })
}

// TestSetOps holds that all representations give the same.
func TestSetOps(t *testing.T) {
	w := solveLike()
	w.unions = w.unions[:300]
	want := fmt.Sprint(outcome(w, setOps[*Set]{
		func() *Set { return new(Set) }, func(s *Set, x uint32) { s.Add(x) },
		(*Set).UnionDiff, (*Set).addMeet, (*Set).addMinus, (*Set).Each,
	}))
	for name, got := range map[string][]uint32{
		"slice": outcome(w, sliceOps), "bitmap": outcome(w, bitmapOps), "roaring": outcome(w, roaringOps), "sparse": outcome(w, sparseOps),
	} {
		if fmt.Sprint(got) != want {
			t.Errorf("%s differs", name)
		}
	}
}

// outcome is what the operations give on the first of a workload's sets.
func outcome[S any](w *workload, o setOps[S]) []uint32 {
	var out []uint32
	ts := map[int]S{}
	for i, u := range w.unions {
		s, diff, filter := o.make(), o.make(), o.make()
		for _, x := range w.sources[u[0]] {
			o.add(s, x)
		}
		for _, x := range w.filters[i%len(w.filters)] {
			o.add(filter, x)
		}
		if _, ok := ts[u[1]%10]; !ok {
			ts[u[1]%10] = o.make()
		}
		t := ts[u[1]%10]
		if o.unionDiff(t, s, diff) {
			out = append(out, 1)
		}
		met, rest := o.make(), o.make()
		o.meet(met, t, filter)
		o.minus(rest, t, filter)
		for _, x := range []S{t, diff, met, rest} {
			n, sum := uint32(0), uint32(0)
			o.each(x, func(x uint32) { n++; sum = sum*31 + x })
			out = append(out, n, sum)
		}
	}
	return out
}

// Sorted slices.
var sliceOps = setOps[*[]uint32]{
	make: func() *[]uint32 { return new([]uint32) },
	add: func(s *[]uint32, x uint32) {
		if i, ok := slices.BinarySearch(*s, x); !ok {
			*s = slices.Insert(*s, i, x)
		}
	},
	unionDiff: func(s, t, diff *[]uint32) bool {
		var fresh []uint32
		sliceMinus(&fresh, t, s)
		if len(fresh) == 0 {
			return false
		}
		*s = mergeSlices(*s, fresh)
		*diff = mergeSlices(*diff, fresh)
		return true
	},
	meet: func(dst, a, b *[]uint32) {
		j := 0
		for _, x := range *a {
			for j < len(*b) && (*b)[j] < x {
				j++
			}
			if j < len(*b) && (*b)[j] == x {
				*dst = append(*dst, x)
			}
		}
	},
	minus: sliceMinus,
	each: func(s *[]uint32, f func(uint32)) {
		for _, x := range *s {
			f(x)
		}
	},
}

func sliceMinus(dst, a, b *[]uint32) {
	j := 0
	for _, x := range *a {
		for j < len(*b) && (*b)[j] < x {
			j++
		}
		if j == len(*b) || (*b)[j] != x {
			*dst = append(*dst, x)
		}
	}
}

func mergeSlices(a, b []uint32) []uint32 {
	out := make([]uint32, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0] < b[0] {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// Plain bitmaps, as long as their largest element asks for.
var bitmapOps = setOps[*[]uint64]{
	make: func() *[]uint64 { return new([]uint64) },
	add: func(s *[]uint64, x uint32) {
		extend(s, int(x/64)+1)
		(*s)[x/64] |= 1 << (x % 64)
	},
	unionDiff: func(s, t, diff *[]uint64) bool {
		extend(s, len(*t))
		any := false
		for i, w := range *t {
			if fresh := w &^ (*s)[i]; fresh != 0 {
				extend(diff, i+1)
				(*s)[i] |= w
				(*diff)[i] |= fresh
				any = true
			}
		}
		return any
	},
	meet: func(dst, a, b *[]uint64) {
		for i := range min(len(*a), len(*b)) {
			if w := (*a)[i] & (*b)[i]; w != 0 {
				extend(dst, i+1)
				(*dst)[i] |= w
			}
		}
	},
	minus: func(dst, a, b *[]uint64) {
		for i, w := range *a {
			if i < len(*b) {
				w &^= (*b)[i]
			}
			if w != 0 {
				extend(dst, i+1)
				(*dst)[i] |= w
			}
		}
	},
	each: func(s *[]uint64, f func(uint32)) {
		for i, w := range *s {
			for ; w != 0; w &= w - 1 {
				f(uint32(i*64 + bits.TrailingZeros64(w)))
			}
		}
	},
}

func extend(s *[]uint64, n int) {
	if n > len(*s) {
		*s = append(*s, make([]uint64, n-len(*s))...)
	}
}

// Roaring bitmaps.
var roaringOps = setOps[*roaring.Bitmap]{
	make: roaring.New,
	add:  func(s *roaring.Bitmap, x uint32) { s.Add(x) },
	unionDiff: func(s, t, diff *roaring.Bitmap) bool {
		fresh := roaring.AndNot(t, s)
		if fresh.IsEmpty() {
			return false
		}
		s.Or(fresh)
		diff.Or(fresh)
		return true
	},
	meet:  func(dst, a, b *roaring.Bitmap) { dst.Or(roaring.And(a, b)) },
	minus: func(dst, a, b *roaring.Bitmap) { dst.Or(roaring.AndNot(a, b)) },
	each:  func(s *roaring.Bitmap, f func(uint32)) { s.Iterate(func(x uint32) bool { f(x); return true }) },
}

// Sparse bitmaps of golang.org/x/tools.
var sparseOps = setOps[*intsets.Sparse]{
	make: func() *intsets.Sparse { return new(intsets.Sparse) },
	add:  func(s *intsets.Sparse, x uint32) { s.Insert(int(x)) },
	unionDiff: func(s, t, diff *intsets.Sparse) bool {
		var fresh intsets.Sparse
		fresh.Difference(t, s)
		if fresh.IsEmpty() {
			return false
		}
		s.UnionWith(&fresh)
		diff.UnionWith(&fresh)
		return true
	},
	meet:  func(dst, a, b *intsets.Sparse) { dst.Intersection(a, b) },
	minus: func(dst, a, b *intsets.Sparse) { dst.Difference(a, b) },
	each: func(s *intsets.Sparse, f func(uint32)) {
		for _, x := range s.AppendTo(nil) {
			f(uint32(x))
		}
	},
}
