package main

import (
	"slices"
	"testing"
)

// Two reports, one with a lost stack, between other lines. Stacks of goroutines are none
// of accesses.
const sample = `=== RUN   TestX
==================
WARNING: DATA RACE
Read at 0x00c000012345 by goroutine 7:
  internal/runtime/maps.(*Map).get()
      /go/src/internal/runtime/maps/map.go:12 +0x1
  main.(*t).get()
      /home/u/prog/a.go:21 +0x64

Previous write at 0x00c000012345 by main goroutine:
  main.(*t).put()
      /home/u/prog/b.go:17 +0xbc
  main.main()
      /home/u/prog/a.go:3 +0x30

Goroutine 7 (running) created at:
  main.main()
      /home/u/prog/a.go:33 +0xf4
==================
    testing.go:1: race detected during execution of test
==================
WARNING: DATA RACE
Write at 0x00c000012345 by goroutine 8:
  main.f()
      /home/u/prog/b.go:9 +0x64

Previous atomic write at 0x00c000012345 by goroutine 7:
  [failed to restore the stack]

Goroutine 8 (running) created at:
  main.main()
      /home/u/prog/a.go:34 +0xf4
==================
`

func TestReports(t *testing.T) {
	all := reports(sample)
	var keys []string
	for _, r := range all {
		keys = append(keys, r.key("/home/u/prog"))
	}
	if want := []string{"a.go:21 with b.go:17", "? with b.go:9"}; !slices.Equal(keys, want) {
		t.Errorf("%q, want %q", keys, want)
	}
	if f, ok := inside(all[0][1], "/home/u/prog"); !ok || f.line != 17 {
		t.Errorf("%+v", f)
	}
	if f, ok := inside(all[1][1], "/home/u/prog"); ok {
		t.Errorf("a lost stack has %+v", f)
	}
}
