package shadow

import (
	"fmt"
	"testing"
)

func benchLab(b *testing.B, o Options) (*State, *Thread) {
	s := New(o, func(*Race) { b.Fatal("a race") })
	b.Cleanup(s.Close)
	return s, Fork(s, nil, 0)
}

const benchElems = 1 << 20

func BenchmarkSameEpoch(b *testing.B) {
	for kind, name := range []string{"read", "write"} {
		b.Run(name, func(b *testing.B) {
			s, t := benchLab(b, Options{})
			for b.Loop() {
				Access(s, t, base, 8, uint8(kind), 0)
			}
		})
	}
}

// BenchmarkNewEpoch walks over a megabyte of words, each pass in a new epoch.
func BenchmarkNewEpoch(b *testing.B) {
	for kind, name := range []string{"read", "write"} {
		b.Run(name, func(b *testing.B) {
			s, t := benchLab(b, Options{})
			i := uintptr(0)
			for b.Loop() {
				if i == 1<<17 {
					Release(s, t, mu)
					i = 0
				}
				Access(s, t, base+i*8, 8, uint8(kind), 0)
				i++
			}
		})
	}
}

// BenchmarkElement walks over the elements of an array, each pass in a new epoch.
func BenchmarkElement(b *testing.B) {
	for _, mode := range []string{"coarse", "fine", "linear"} {
		b.Run(mode, func(b *testing.B) {
			s, t := benchLab(b, Options{Arrays: mode != "linear"})
			AddArray(s, base, 8, benchElems)
			if mode == "fine" {
				Access(s, t, base+8*300000, 8, Write, 0)
				Commit(s, t, 100)
			}
			i := uintptr(0)
			for b.Loop() {
				if i == benchElems {
					Release(s, t, mu)
					i = 0
				}
				Access(s, t, base+i*8, 8, Write, 0)
				i++
			}
		})
	}
}

// BenchmarkRange checks a million elements by one call and commits, each time in a new
// epoch. The time is for all.
func BenchmarkRange(b *testing.B) {
	for _, mode := range []string{"coarse", "halves", "stride", "fine", "linear"} {
		b.Run(mode, func(b *testing.B) {
			s, t := benchLab(b, Options{Arrays: mode != "linear"})
			AddArray(s, base, 8, benchElems)
			n, stride, lo := uintptr(benchElems), uintptr(8), base
			switch mode {
			case "halves":
				n /= 2
			case "stride":
				n, stride = n/2, 16
			case "fine":
				Access(s, t, base+8*300000, 8, Write, 0)
				Commit(s, t, 100)
			}
			for b.Loop() {
				for done := uintptr(0); done < n; {
					done += Range(s, t, lo+done*stride, 8, n-done, stride, Write, 0)
				}
				Release(s, t, mu)
			}
		})
	}
}

func BenchmarkSync(b *testing.B) {
	for _, n := range []int{1, 8, 64, 1024} {
		b.Run(fmt.Sprintf("lock/%d", n), func(b *testing.B) {
			s, t := benchLab(b, Options{})
			main := t
			for i := range n - 1 { // the last one has a clock for all
				t = Fork(s, main, uint64(i))
			}
			Access(s, t, base, 8, Write, 0)
			for b.Loop() {
				Acquire(s, t, mu)
				Release(s, t, mu)
			}
		})
	}
	b.Run("fork", func(b *testing.B) {
		s, t := benchLab(b, Options{})
		for b.Loop() {
			c := Fork(s, t, 1)
			Release(s, c, mu)
			End(s, c)
			Acquire(s, t, mu)
		}
	})
}

// BenchmarkClear is a 32-byte allocation: of memory never accessed, and accessed.
func BenchmarkClear(b *testing.B) {
	for _, mode := range []string{"clean", "used", "array"} {
		b.Run(mode, func(b *testing.B) {
			s, t := benchLab(b, Options{Arrays: true})
			for b.Loop() {
				switch mode {
				case "used":
					Access(s, t, base, 8, Write, 0)
				case "array":
					AddArray(s, base, 1, 32)
				}
				Clear(s, base, 32)
			}
		})
	}
}
