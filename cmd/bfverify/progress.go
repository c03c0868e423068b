package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// A bar shows on stderr what is going on: on a terminal one line that is
// written over, with -v a line for each new thing, else nothing. Its text can be
// removed without loss.
type bar struct {
	w     io.Writer
	live  bool // a terminal
	lines bool // -v
	shown bool // something is on the terminal's line
	last  string
	drawn time.Time
}

func newBar(w io.Writer, quiet, verbose bool) *bar {
	b := &bar{w: w}
	if !quiet {
		b.live = isTerminal(w)
		b.lines = verbose && !b.live
	}
	return b
}

// show replaces what the bar says. Unimportant texts may be dropped.
func (b *bar) show(text string, important bool) {
	switch {
	case b.lines && important && text != b.last:
		fmt.Fprintln(b.w, text)
		b.last = text
	case b.live:
		if now := time.Now(); important || now.Sub(b.drawn) > 100*time.Millisecond {
			if r := []rune(text); len(r) > 78 {
				text = string(r[:77]) + "…"
			}
			fmt.Fprintf(b.w, "\r\x1b[K%s", text)
			b.shown, b.drawn = true, now
		}
	}
}

// clear takes the bar off the terminal, so that other output may follow.
func (b *bar) clear() {
	if b.shown {
		fmt.Fprint(b.w, "\r\x1b[K")
		b.shown = false
	}
}

// isTerminal reports whether w is a terminal that understands cursor movement.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// inColor reports whether output to w is to be coloured.
func inColor(w io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && isTerminal(w)
}

// oneLine returns the first line of a text.
func oneLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
