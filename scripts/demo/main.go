// Command demo runs bfverify on the example programs, shows the report, and
// compares the verdicts with those that the package comments of the examples
// ask for, in a line "want: VERDICT".
//
//	go run ./scripts/demo bin/bfverify examples
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
)

var (
	wantLine    = regexp.MustCompile(`(?m)^// want: (\w+)$`)
	verdictLine = regexp.MustCompile(`(?m)^([A-Z]+) \S*/(\w+) \(main package\):`)
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: demo BFVERIFY DIR")
		os.Exit(2)
	}
	if err := demo(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// demo returns an error that names the verdicts that are not as wanted.
func demo(tool, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*", "main.go"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no examples in %s", dir)
	}
	want := map[string]string{}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		m := wantLine.FindSubmatch(src)
		if m == nil {
			return fmt.Errorf("%s: the package comment has no line \"want: VERDICT\"", f)
		}
		want[filepath.Base(filepath.Dir(f))] = string(m[1])
	}
	var out bytes.Buffer
	cmd := exec.Command(tool, "-tests=false", "./"+filepath.ToSlash(dir)+"/...")
	fmt.Println("$", tool, "-tests=false", "./"+filepath.ToSlash(dir)+"/...")
	cmd.Stdout, cmd.Stderr = io.MultiWriter(os.Stdout, &out), os.Stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return fmt.Errorf("%s: %w", tool, err)
	}
	got := map[string]string{}
	for _, m := range verdictLine.FindAllSubmatch(out.Bytes(), -1) {
		got[string(m[2])] = string(m[1])
	}
	var names []string
	for name := range want {
		names = append(names, name)
	}
	sort.Strings(names)
	fmt.Println("\nexample       wanted  given")
	wrong := 0
	for _, name := range names {
		note := ""
		if got[name] != want[name] {
			note = "  <- not as wanted"
			wrong++
		}
		fmt.Printf("%-12s  %-6s  %s%s\n", name, want[name], got[name], note)
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d verdicts are not as wanted", wrong, len(want))
	}
	fmt.Printf("all %d verdicts are as wanted; the open pairs above are real races: go run -race ./%s/missinglock\n", len(want), filepath.ToSlash(dir))
	return nil
}
