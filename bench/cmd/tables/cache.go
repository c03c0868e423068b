package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

// cacheSteps are the columns of table cache, in the order in which they are measured.
var cacheSteps = []string{"no cache", "cold", "unchanged", "edit in main", "edit between"}

// cacheTable prints what the cache saves: a run without one, one that fills it, one in
// which nothing has changed, and runs after one line more in a function of the main
// package and in one of a package between it and its dependencies. In the first round
// the output after an edit is compared with that of a run without a cache.
func cacheTable(s *settings) error {
	tmp, err := os.MkdirTemp("", "bfverify-cache")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	bin := filepath.Join(tmp, "bfverify")
	build := exec.Command("go", "build", "-o", bin, "./cmd/bfverify")
	build.Dir = s.root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %s", err, out)
	}
	fmt.Println("Cache. s: seconds by the clock; CPU s: of all processes; %: of the CPU time without a cache; MB: peak of one process; disk MB: size of the cache; output: whether it is, but for times, that of a run without a cache.")
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "program\trun\ts\tCPU s\t%\tMB\tdisk MB\toutput\t")
	for _, p := range s.programs {
		got := map[string][]figure{}
		output := map[string]string{}
		for round := range s.rounds {
			dir := filepath.Join(tmp, p.name)
			if err := s.cacheRound(p, bin, dir, round == 0, got, output); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
		}
		base := median(got[cacheSteps[0]])
		for _, step := range cacheSteps {
			if len(got[step]) == 0 {
				continue
			}
			f := median(got[step])
			if f.Err != "" {
				fmt.Fprintf(w, "%s\t%s\t\t\t\t\t\t%s\t\n", p.name, step, f.Err)
				continue
			}
			fmt.Fprintf(w, "%s\t%s\t%.2f\t%.2f\t%.0f\t%.0f\t%.1f\t%s\t\n", p.name, step, f.Seconds, f.Load,
				100*f.Load/base.Load, f.PeakMB, f.Values["disk"], output[step])
		}
		w.Flush()
	}
	return nil
}

// cacheRound measures all steps once; Load of a figure is its CPU time.
func (s *settings) cacheRound(p program, bin, dir string, compare bool, got map[string][]figure, output map[string]string) error {
	m, err := s.copyModule(p, dir)
	if err != nil {
		return err
	}
	store := filepath.Join(dir, "cache")
	var want []byte // without a cache, of the program as it is
	for _, step := range cacheSteps {
		cache := store
		switch step {
		case "no cache":
			cache = "off"
		case "edit in main":
			if err := edit(m.main); err != nil {
				return err
			}
		case "edit between":
			if m.between == "" {
				continue // there is no such package
			}
			if err := edit(m.between); err != nil {
				return err
			}
		}
		f, out := s.verdicts(bin, m.dir, p.pattern, cache)
		if f.Err == "" {
			f.Values = map[string]float64{"disk": float64(diskUse(store)) / (1 << 20)}
		}
		got[step] = append(got[step], f)
		switch {
		case step == "no cache":
			want = out
			continue
		case !compare || f.Err != "":
			continue
		case strings.HasPrefix(step, "edit"):
			_, want = s.verdicts(bin, m.dir, p.pattern, "off")
		}
		output[step] = "the same"
		if !bytes.Equal(out, want) {
			output[step] = "DIFFERS"
		}
	}
	return nil
}

// times are what may differ in two runs.
var times = regexp.MustCompile(`"seconds":[0-9.e+-]+|.*"type":"progress".*\n`)

// verdicts runs bfverify and returns its output without times.
func (s *settings) verdicts(bin, dir, pattern, cache string) (figure, []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "-json", "-tests=false", "-mem", fmt.Sprint(s.memory), "-cache", cache, pattern)
	cmd.Dir = dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := time.Now()
	err := cmd.Run()
	f := figure{Seconds: time.Since(start).Seconds()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		f.Err = fmt.Sprintf("not done in %v", s.timeout)
	case err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1):
		f.Err = lastLine(errs.String(), err)
	}
	if cmd.ProcessState != nil {
		f.Load = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			f.PeakMB = float64(u.Maxrss) / 1024
		}
	}
	return f, times.ReplaceAll(out.Bytes(), nil)
}

// copied is a module that be edited.
type copied struct {
	dir     string // where to run
	main    string // the folder of the main package
	between string // that of the package of the module which most others use; or ""
}

// copyModule copies the module of a program into dir, with the versions of its
// dependencies that bench/real says.
func (s *settings) copyModule(p program, dir string) (*copied, error) {
	real := filepath.Join(s.root, "bench", "real", p.dir)
	list := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,Module,Deps", p.pattern)
	list.Dir = real
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %v", err)
	}
	type pkg struct {
		ImportPath, Dir string
		Module          *struct {
			Path, Dir string
			Main      bool
		}
		Deps []string
	}
	var pkgs []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var x pkg
		if err := d.Decode(&x); err != nil {
			return nil, err
		}
		pkgs = append(pkgs, x)
	}
	main := pkgs[len(pkgs)-1]
	if main.Module == nil {
		return nil, errors.New("its main package has no module")
	}
	users := map[string]int{}
	for _, x := range pkgs {
		for _, d := range x.Deps {
			users[d]++
		}
	}
	m := &copied{dir: filepath.Join(dir, "run")}
	if err := copyTree(real, m.dir); err != nil {
		return nil, err
	}
	to := m.dir
	if !main.Module.Main {
		to = filepath.Join(dir, "module")
		if err := copyTree(main.Module.Dir, to); err != nil {
			return nil, err
		}
		mod := exec.Command("go", "mod", "edit", "-replace", main.Module.Path+"="+to)
		mod.Dir = m.dir
		if out, err := mod.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go mod edit: %v: %s", err, out)
		}
	}
	folder := func(x pkg) string { return filepath.Join(to, strings.TrimPrefix(x.Dir, main.Module.Dir)) }
	m.main = folder(main)
	most := 0
	for _, x := range pkgs[:len(pkgs)-1] {
		if x.Module != nil && x.Module.Path == main.Module.Path && users[x.ImportPath] > most {
			if _, _, err := place(folder(x)); err == nil {
				m.between, most = folder(x), users[x.ImportPath]
			}
		}
	}
	return m, nil
}

// copyTree copies the Go files, and what else may be built, so that it can be written.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o777)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), src, 0o666)
	})
}

// edit puts one line more into the first function that place finds.
func edit(dir string) error {
	name, at, err := place(dir)
	if err != nil {
		return err
	}
	src, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return os.WriteFile(name, slices.Concat(src[:at], []byte("\n\t_ = 0\n"), src[at:]), 0o666)
}

// place returns the file and the offset of the first function body in a folder's files
// that are built everywhere. It is no generic function's.
func place(dir string) (name string, at int, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", 0, err
	}
	slices.Sort(names)
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			return "", 0, err
		}
		if strings.Contains(filepath.Base(name), "_") || bytes.Contains(src, []byte("//go:build")) {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, src, 0)
		if err != nil {
			return "", 0, err
		}
		for _, d := range file.Decls {
			if fd, ok := d.(*ast.FuncDecl); ok && fd.Body != nil && fd.Type.TypeParams == nil && (fd.Recv == nil || len(fd.Recv.List) == 0 || !generic(fd.Recv.List[0].Type)) {
				return name, fset.Position(fd.Body.Lbrace).Offset + 1, nil
			}
		}
	}
	return "", 0, fmt.Errorf("%s: no function to edit", dir)
}

// generic reports whether a receiver's type has parameters.
func generic(t ast.Expr) (yes bool) {
	ast.Inspect(t, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.IndexExpr, *ast.IndexListExpr:
			yes = true
		}
		return !yes
	})
	return yes
}

// diskUse returns what the files below dir take on disk.
func diskUse(dir string) (n int64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				if st, ok := info.Sys().(*syscall.Stat_t); ok {
					n += st.Blocks * 512
				}
			}
		}
		return nil
	})
	return n
}
