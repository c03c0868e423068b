// Command slowest reads the output of go test -json and prints for people: what
// failed with its output, a line for each package, the ten slowest tests, and
// last how many tests passed and failed. It exits with 1 if anything failed,
// or if no test ran.
//
//	go test -json ./... | go run ./scripts/slowest
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
)

// An event is a line of go test -json; see go doc test2json.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build output
	Test        string
	Elapsed     float64
	Output      string
	FailedBuild string
}

func main() {
	if !summarise(os.Stdin, os.Stdout) {
		os.Exit(1)
	}
}

// test names one test, or a package for the empty name.
type test struct{ pkg, name string }

// summarise reports whether tests ran and all is well.
func summarise(r io.Reader, w io.Writer) bool {
	out := map[test]*strings.Builder{}
	build := map[string]*strings.Builder{}
	sub := map[test]bool{} // has subtests, which count instead of it
	took := map[test]float64{}
	var done []test
	passed, failed, skipped, broken := 0, 0, 0, 0
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 1<<20), 1<<26)
	for in.Scan() {
		var e event
		if json.Unmarshal(in.Bytes(), &e) != nil || e.Action == "" {
			fmt.Fprintln(w, in.Text()) // the go command speaks for itself
			continue
		}
		t := test{e.Package, e.Test}
		switch e.Action {
		case "build-output":
			put(build, e.ImportPath, e.Output)
		case "output":
			put(out, t, e.Output)
		case "run":
			if i := strings.LastIndexByte(e.Test, '/'); i > 0 {
				sub[test{e.Package, e.Test[:i]}] = true
			}
		case "pass", "fail", "skip":
			if e.Test == "" {
				if e.Action == "fail" {
					broken++
					if b := build[e.FailedBuild]; b != nil {
						fmt.Fprint(w, b)
					}
					fmt.Fprintf(w, "FAIL %s\n%s", e.Package, text(out[t]))
				} else {
					fmt.Fprintf(w, "%-4s %s %.1fs\n", map[string]string{"pass": "ok", "skip": "-"}[e.Action], e.Package, e.Elapsed)
				}
				continue
			}
			if e.Action == "fail" {
				fmt.Fprint(w, text(out[t]))
			}
			delete(out, t)
			if sub[t] {
				continue
			}
			switch e.Action {
			case "pass":
				passed++
			case "fail":
				failed++
			case "skip":
				skipped++
			}
			took[t] = e.Elapsed
			done = append(done, t)
		}
	}
	if err := in.Err(); err != nil {
		fmt.Fprintln(w, "reading the tests' output:", err)
		broken++
	}
	sort.SliceStable(done, func(i, j int) bool { return took[done[i]] > took[done[j]] })
	fmt.Fprintln(w, "\nthe slowest tests:")
	for _, t := range done[:min(10, len(done))] {
		fmt.Fprintf(w, "%7.2fs %s %s\n", took[t], t.pkg, t.name)
	}
	if broken > 0 {
		fmt.Fprintf(w, "\n%d packages failed\n", broken)
	}
	if failed == 0 && broken > 0 {
		failed = broken // a build error fails no test
	}
	fmt.Fprintf(w, "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	return failed == 0 && broken == 0 && passed > 0
}

// put appends output to what is kept for key.
func put[K comparable](m map[K]*strings.Builder, key K, output string) {
	if m[key] == nil {
		m[key] = &strings.Builder{}
	}
	m[key].WriteString(output)
}

// text returns what was kept.
func text(b *strings.Builder) string {
	if b == nil {
		return ""
	}
	return b.String()
}
