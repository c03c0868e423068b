package main

import (
	"fmt"
	"os"

	"github.com/bfverify/bfverify/dynamic/trace"
)

// makeTrace is the command mktrace of the scripts: it writes a trace of that name to a
// file. Two goroutines write to one array, each to its half and g2 to one element more;
// so the race is on that element.
func makeTrace() {
	kind, file := os.Args[1], os.Args[2]
	half := func(g uint32, from, to uint64) (all []trace.Event) {
		for i := from; i < to; i++ {
			all = append(all, trace.Event{Kind: trace.Write, G: g, Addr: 0xc000100000 + i*8, Size: 8, Site: g})
		}
		return all
	}
	events := []trace.Event{
		{Kind: trace.Name, Site: 1, Text: "left.go:12:3"},
		{Kind: trace.Name, Site: 2, Text: "right.go:7:3"},
		{Kind: trace.Malloc, Addr: 0xc000100000, Size: 512, Site: 3},
		{Kind: trace.Array, Addr: 0xc000100000, Size: 8, Count: 64},
		{Kind: trace.Fork, Other: 1},
		{Kind: trace.Fork, Other: 2},
	}
	events = append(events, half(1, 0, 32)...)
	if kind == "race" {
		events = append(events, half(2, 31, 64)...)
	} else {
		events = append(events, half(2, 32, 64)...)
	}
	if kind == "checks" {
		for g := range uint32(2) {
			events = append(events, trace.Event{Kind: trace.CheckWrite, G: g + 1, Site: g + 1,
				Parts: []trace.Part{{Addr: 0xc000100000 + uint64(g)*256, Size: 8, Count: 32, Stride: 8}}})
		}
	}
	out, err := os.Create(file)
	if err == nil {
		err = trace.WriteAll(out, events)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
