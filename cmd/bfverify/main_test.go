package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bfverify/bfverify/export"
)

func TestWorse(t *testing.T) {
	order := []int{exitProved, exitOpen, exitAbandoned, exitError} // 01-overview: 2, 3, 1, 0
	for i, a := range order {
		for j, b := range order {
			if got := worse(a, b); got != order[max(i, j)] {
				t.Errorf("worse(%d, %d) = %d", a, b, got)
			}
		}
	}
}

func TestStatusOf(t *testing.T) {
	for _, c := range []struct {
		r    export.Result
		want int
	}{
		{export.Result{Verdict: export.Proved}, exitProved},
		{export.Result{Verdict: export.Open, Open: 1}, exitOpen},
		{export.Result{Verdict: export.Open, Open: 1, Waived: 1}, exitOpen},
		{export.Result{Verdict: export.Open, Waived: 1}, exitProved},
		{export.Result{Verdict: export.Open}, exitOpen}, // not waived, so not proved
		{export.Result{Verdict: export.Confirmed, Waived: 1}, exitOpen},
		{export.Result{Verdict: export.Abandoned}, exitAbandoned},
		{export.Result{}, exitAbandoned},
	} {
		if got := statusOf(c.r); got != c.want {
			t.Errorf("statusOf(%+v) = %d, want %d", c.r, got, c.want)
		}
	}
}

func TestNormalise(t *testing.T) {
	c := newCommand(nil, nil)
	for _, x := range [][2]string{
		{"-json -tags race -entry ^Test ./...", "--json --tags=race --entry=^Test ./..."},
		{"./a -C dir --k=2 -q=false", "./a --C=dir --k=2 --q=false"},
		{"-stages -aliasing,-parallel .", "--stages=-aliasing,-parallel ."},
		{"-tags= . -- -json", "--tags= . -- -json"},
		{"models -h -tags=a=b", "models --help --tags=a=b"},
		{"- a=b", "- a=b"},
	} {
		got, err := c.normalise(strings.Fields(x[0]))
		if s := strings.Join(got, " "); err != nil || s != x[1] {
			t.Errorf("normalise(%s) = %s, %v; want %s", x[0], s, err, x[1])
		}
	}
}

func TestSize(t *testing.T) {
	for s, want := range map[string]uint64{"12GiB": 12 << 30, "1.5 gib": 3 << 29, "800MB": 8e8, "7": 7, "2k": 2048} {
		var n uint64
		if err := (bytesFlag{&n}).Set(s); err != nil || n != want {
			t.Errorf("-mem %s is %d, %v; want %d", s, n, err, want)
		}
	}
	for _, s := range []string{"", "GiB", "-1GiB", "0", "12XiB", "1e30GiB", "99999999TiB"} {
		var n uint64
		if err := (bytesFlag{&n}).Set(s); err == nil {
			t.Errorf("-mem %s is %d, not an error", s, n)
		}
	}
	for n, want := range map[uint64]string{12 << 30: "12GiB", 3 << 29: "1.5GiB", 1 << 10: "1KiB", 5: "5B"} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestBar(t *testing.T) {
	var w bytes.Buffer
	b := &bar{w: &w, live: true}
	b.show("one", true)
	b.show("two", false) // too soon
	b.show(strings.Repeat("x", 100), true)
	b.clear()
	b.clear()
	if got, want := w.String(), "\r\x1b[Kone\r\x1b[K"+strings.Repeat("x", 77)+"…\r\x1b[K"; got != want {
		t.Errorf("terminal: %q, want %q", got, want)
	}
	w.Reset()
	b = newBar(&w, false, false)
	b.show("one", true)
	b.clear()
	if w.Len() > 0 {
		t.Errorf("no terminal: %q", w.String())
	}
}
