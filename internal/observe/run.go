package observe

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/extract"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/models"
)

// A Session is a module whose programs are loaded and instrumented.
type Session struct {
	*Overlay
	Programs []*load.Program
	Dir      string // of the module

	universe *facts.Universe
	logs     string
}

// Open loads the programs that patterns name in the module in dir, as bfverify
// does, test binaries included, and writes their instrumented sources into work.
func Open(ctx context.Context, dir, work string, patterns []string) (*Session, error) {
	res, err := load.Load(ctx, load.Config{Dir: dir, Patterns: patterns, Tests: true, Models: models.Files()})
	if err != nil {
		return nil, err
	}
	s := &Session{Programs: res.Programs, Dir: dir, logs: work}
	if s.Overlay, err = Instrument(res, work); err != nil {
		return nil, err
	}
	if s.universe, err = extract.Universe(res); err != nil {
		return nil, err
	}
	return s, nil
}

// Link returns the facts of a program.
func (s *Session) Link(p *load.Program) (*facts.Program, error) { return extract.Link(s.universe, p) }

// Run builds and runs an instrumented program with args, those of go test for a
// test binary, and reads what it logged. out gets what it prints. A program that
// fails still has its record: what it did is to be in the result all the same.
func (s *Session) Run(ctx context.Context, p *load.Program, out *bytes.Buffer, args ...string) (*Record, error) {
	dir, err := os.MkdirTemp(s.logs, "log")
	if err != nil {
		return nil, err
	}
	bin := filepath.Join(dir, "program")
	build := []string{"build", "-o", bin}
	if p.Kind == load.Test {
		build = []string{"test", "-c", "-vet=off", "-o", bin}
	}
	cmd := exec.CommandContext(ctx, "go", append(append(build, s.Flags()...), p.Path)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.Dir, out, out
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("the instrumented %s does not build: %w\n%s", p, err, out)
	}
	cmd = exec.CommandContext(ctx, bin, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.Dir, out, out
	if p.Kind == load.Test { // as go test does
		for _, t := range p.Tests {
			if fs := t.Pkg.GoFiles; len(fs) > 0 {
				cmd.Dir = filepath.Dir(fs[0])
			}
		}
	}
	cmd.Env = append(os.Environ(), "BFOBSERVE_OUT="+dir)
	runErr := cmd.Run()
	rec, err := ReadRecord(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; the program says: %v\n%s", p, err, runErr, tail(out))
	}
	return rec, nil
}

func tail(out *bytes.Buffer) []byte {
	b := out.Bytes()
	return b[max(0, len(b)-4096):]
}

// Fetch copies a module, "path@version", into dir, with its dependencies in a
// folder vendor: the go command replaces no files of the module cache.
func Fetch(ctx context.Context, module, dir string) error {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
	data, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go mod download %s: %w\n%s", module, err, data)
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	err = filepath.WalkDir(m.Dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, strings.TrimPrefix(name, m.Dir))
		if d.IsDir() {
			return os.MkdirAll(to, 0o777)
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, b, 0o666)
	})
	if err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	if v := goLine.FindSubmatch(mod); v == nil || older("go"+string(v[1])) {
		cmd = exec.CommandContext(ctx, "go", "mod", "edit", "-go=1.21")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go mod edit: %w\n%s", err, out)
		}
	}
	cmd = exec.CommandContext(ctx, "go", "mod", "vendor")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go mod vendor: %w\n%s", err, out)
	}
	list := filepath.Join(dir, "vendor", "modules.txt")
	data, err = os.ReadFile(list)
	if os.IsNotExist(err) {
		return nil // no dependencies
	}
	if err != nil {
		return err
	}
	return os.WriteFile(list, []byte(withGenerics(string(data))), 0o666)
}

var goLine = regexp.MustCompile(`(?m)^go (\S+)`)

// withGenerics lets the modules of a vendor/modules.txt with an older language
// than go1.21 have that: it has the generics that instrumented code needs, and
// gives the code before it no other meaning.
func withGenerics(list string) string {
	var out strings.Builder
	lines := strings.SplitAfter(list, "\n")
	for i, line := range lines {
		if meta, ok := strings.CutPrefix(line, "## "); ok {
			var words []string
			for _, w := range strings.Split(strings.TrimSpace(meta), ";") {
				if v, ok := strings.CutPrefix(strings.TrimSpace(w), "go "); !ok || !older("go"+v) {
					words = append(words, strings.TrimSpace(w))
				}
			}
			if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "go ") }) {
				words = append(words, "go 1.21")
			}
			line = "## " + strings.Join(words, "; ") + "\n"
		}
		out.WriteString(line)
		if strings.HasPrefix(line, "# ") && (i+1 == len(lines) || !strings.HasPrefix(lines[i+1], "## ")) && !strings.Contains(line, "=>") {
			out.WriteString("## go 1.21\n")
		}
	}
	return out.String()
}
