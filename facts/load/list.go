package load

import (
	"context"
	"crypto/sha256"
	"fmt"
	"go/token"
	"maps"
	"os"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"

	"github.com/bfverify/bfverify/facts/cache"
)

// A List is what the go command knows of the packages that a Config names, with the
// models that join them, before any of their source is read.
type List struct {
	Build Build // as in Result

	cfg      Config
	dir      string
	roots    []*packages.Package
	graph    *graph
	models   modelSet
	explain  *explainer
	progress func(msg string, important bool)
	sums     map[string]fileSum // of the files that Recipe read, by name
	listed   []packages.Package // of graph.all as NewList left them
}

// reset undoes what an earlier Check did to the packages.
func (l *List) reset() {
	for i, p := range l.graph.all {
		*p = l.listed[i]
	}
}

// A fileSum is a hash of a file's content.
type fileSum = cache.Key

// NewList asks the go command for what cfg names. Errors are those of Load; what it
// says of single packages, and patterns that match nothing, are errors of Check.
func NewList(ctx context.Context, cfg Config) (*List, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l := &List{cfg: cfg, progress: progressFunc(cfg.Progress)}
	var err error
	if l.dir, err = absDir(cfg.Dir); err != nil {
		return nil, err
	}
	patterns := cfg.Patterns
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	env := cfg.Env
	if env == nil {
		env = os.Environ()
	}
	env = append(env[:len(env):len(env)], "GOPACKAGESDRIVER=off")
	l.progress("asking the go command for the build configuration", true)
	build, err := goEnv(ctx, l.dir, env, cfg.Tags)
	if err != nil {
		return nil, err
	}
	l.explain = &explainer{ctx: ctx, dir: l.dir, env: env, patterns: patterns, tags: cfg.Tags, build: build}
	if l.models, err = newModelSet(cfg.Models, build); err != nil {
		return nil, err
	}
	pcfg := &packages.Config{Mode: mode, Context: ctx, Dir: l.dir, Env: env, Tests: cfg.Tests}
	if cfg.Tags != "" {
		pcfg.BuildFlags = []string{"-tags=" + cfg.Tags}
	}
	l.progress("loading "+strings.Join(patterns, " "), true)
	err = unlessDone(ctx, func() error {
		roots, err := packages.Load(pcfg, queries(patterns)...)
		if err != nil {
			return l.explain.failed(err)
		}
		l.roots, l.graph = roots, newGraph(roots)
		if missing := l.models.missing(l.graph, build.GOROOT); len(missing) > 0 && ctx.Err() == nil {
			more := *pcfg
			more.Tests = false
			if found, err := packages.Load(&more, missing...); err == nil {
				l.graph.add(found)
			}
		}
		l.models.join(l.graph, build.GOROOT)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, p := range l.graph.all {
		l.listed = append(l.listed, *p)
	}
	l.Build = *build
	l.Build.Lang = language(l.roots)
	return l, nil
}

// unlessDone runs f and returns its error, or at once that of ctx where that ends
// first. What is left of f's work is to stop by itself then.
func unlessDone(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-done:
		if err := ctx.Err(); err != nil {
			return err
		}
		return err
	}
}

// Check reads and type-checks the packages, each from source but for those that reuse
// finds. Errors are those of Load, and a *LostError. Recipe must have been called before a Check that
// reuses anything, and its result been true.
func (l *List) Check(ctx context.Context, reuse Reuse) (*Result, error) {
	l.reset()
	l.explain.ctx = ctx
	var parsed int
	var parsedMu sync.Mutex
	c := &checker{
		ctx: ctx, fset: token.NewFileSet(), goroot: l.Build.GOROOT, models: l.models,
		files: map[fileKey]*fileValue{}, used: map[string]*Model{}, sums: l.sums,
		list: l, kept: l.newKept(reuse), idleOf: map[*packages.Package][]string{}, sources: map[string][]byte{},
		parsed: func() {
			parsedMu.Lock()
			defer parsedMu.Unlock()
			parsed++
			l.progress(fmt.Sprintf("parsed %d files", parsed), false)
		},
	}
	err := unlessDone(ctx, func() error {
		c.check(l.roots)
		return nil
	})
	if err != nil {
		return nil, err // what is left of the work stops at its next file
	}
	if c.kept != nil && len(c.kept.lost) > 0 {
		return nil, &LostError{c.kept.lost}
	}
	l.explain.models = c.used
	if err := l.explain.check(l.roots); err != nil {
		return nil, err
	}
	r := &Result{Packages: l.roots, Build: l.Build, Fset: c.fset, Changed: c.changed, dir: l.dir}
	c.tell(r)
	c.tellKept(r)
	if err := r.findPrograms(); err != nil {
		return nil, err
	}
	return r, nil
}

// Recipe writes all that Check's result depends on: the build, the models, what the
// go command said of every package, and the content of every file. It reports false
// where it cannot: a package has errors, or a file cannot be read. Check then tells
// whether what it read is what was hashed here (Result.Changed). Cost: reading all
// files once.
func (l *List) Recipe(to *cache.Recipe) (ok bool) {
	if !l.hash() {
		return false
	}
	l.recipe(to)
	to.Strings([]string{l.dir, l.cfg.Tags, l.Build.GoMod, l.Build.GoWork, l.Build.Lang})
	to.Strings(l.explain.patterns)
	to.Bool(l.cfg.Tests)
	for _, p := range l.roots {
		to.String(p.ID)
	}
	for _, p := range l.graph.all {
		l.pkgRecipe(to, p)
		for _, path := range imports(p) {
			to.Strings([]string{path, p.Imports[path].ID})
		}
	}
	return true
}

// recipe writes what holds for all packages: the build and the models.
func (l *List) recipe(to *cache.Recipe) {
	b := &l.Build
	to.Strings([]string{b.GOOS, b.GOARCH, b.Subarch, b.GoVersion, b.GOROOT, b.Experiment, b.FIPS140, b.Flags})
	to.Strings(b.Tags)
	to.Bool(b.Cgo)
	for _, path := range slices.Sorted(maps.Keys(l.models)) {
		for _, m := range l.models[path] {
			if m.User() { // those built in are part of the program
				to.Strings([]string{m.Path, m.Name, m.File.File, m.At, string(m.Source)})
			}
		}
	}
}

// pkgRecipe writes what is p's own: all but its imports.
func (l *List) pkgRecipe(to *cache.Recipe, p *packages.Package) {
	to.Strings([]string{p.ID, p.PkgPath, p.Name, p.Dir, p.ForTest})
	to.Bool(p.Module != nil)
	if p.Module != nil {
		to.Strings([]string{p.Module.Path, p.Module.Version, p.Module.GoVersion, p.Module.Dir})
	}
	to.Strings(p.CompiledGoFiles)
	for _, name := range p.CompiledGoFiles {
		to.Key(l.sums[name])
	}
}

// imports returns the paths by which p imports, sorted.
func imports(p *packages.Package) []string {
	paths := make([]string, 0, len(p.Imports))
	for path := range p.Imports {
		paths = append(paths, path)
	}
	sort.Strings(paths)
	return paths
}

// hash fills sums.
func (l *List) hash() bool {
	l.sums = map[string]fileSum{}
	var names []string
	for _, p := range l.graph.all {
		if len(p.Errors) > 0 {
			return false
		}
		for _, name := range p.CompiledGoFiles {
			if _, ok := l.sums[name]; !ok {
				l.sums[name] = fileSum{}
				names = append(names, name)
			}
		}
	}
	sums := make([]fileSum, len(names))
	errs := make([]error, len(names))
	var wg sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				var src []byte
				if src, errs[i] = os.ReadFile(names[i]); errs[i] == nil {
					sums[i] = sha256.Sum256(src)
				}
			}
		})
	}
	for i := range names {
		next <- i
	}
	close(next)
	wg.Wait()
	for i, name := range names {
		if errs[i] != nil {
			return false
		}
		l.sums[name] = sums[i]
	}
	return true
}
