package observe

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/bfverify/bfverify/facts/load"
)

//go:embed logger/logger.go
var loggerSource string

//go:embed logger/intervals.go
var intervalsSource string

//go:embed logger/flush.go
var flushSource string

// tag hides the logger's files from the go command.
const tag = "//go:build bfobserve\n"

// An Overlay is instrumented code for the go command.
type Overlay struct {
	Plan     *Plan
	File     string   // for -overlay
	Packages []string // import paths of instrumented packages
}

// Instrument writes instrumented copies of the packages of res that are not of
// the standard library, and the logger, into dir. Packages with cgo, and those
// of modules whose language has no generics, are left as they are; Plan.Left
// names them.
func Instrument(res *load.Result, dir string) (*Overlay, error) {
	plan := newPlan()
	replace := map[string]string{}
	o := &Overlay{Plan: plan, File: filepath.Join(dir, "overlay.json")}
	add := func(name string, src []byte) error {
		to := filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		replace[name] = to
		return os.WriteFile(to, src, 0o666)
	}
	seen := map[*packages.Package]bool{}
	for _, prog := range res.Programs {
		for _, p := range prog.Packages() {
			if seen[p] || p.Module == nil || len(p.Syntax) == 0 {
				continue
			}
			seen[p] = true
			if why := unfit(p); why != "" {
				plan.Left = append(plan.Left, p.PkgPath+": "+why)
				continue
			}
			o.Packages = append(o.Packages, p.PkgPath)
			for i, f := range p.Syntax {
				name := p.CompiledGoFiles[i]
				if replace[name] != "" {
					continue
				}
				src, err := os.ReadFile(name)
				if err != nil {
					return nil, err
				}
				if err := add(name, plan.instrument(res.Fset, p.TypesInfo, f, src)); err != nil {
					return nil, err
				}
			}
		}
	}
	slices.Sort(o.Packages)
	o.Packages = slices.Compact(o.Packages)
	slices.Sort(plan.Left)
	plan.Left = slices.Compact(plan.Left)
	sizes := fmt.Sprintf("package bfobserve\n\nconst (\n\tnumUses = %d\n\tnumSites = %d\n\tnumFuncs = %d\n)\n", len(plan.Uses), len(plan.Sites), len(plan.Funcs))
	for name, src := range map[string]string{"logger.go": loggerSource, "intervals.go": intervalsSource, "flush.go": flushSource, "sizes.go": tag + sizes} {
		src = strings.TrimPrefix(src, tag)
		if err := add(filepath.Join(runtime.GOROOT(), "src", "bfobserve", name), []byte(src)); err != nil {
			return nil, err
		}
	}
	data, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return nil, err
	}
	return o, os.WriteFile(o.File, data, 0o666)
}

// unfit says why a package is not instrumented, or "".
func unfit(p *packages.Package) string {
	if v := "go" + p.Module.GoVersion; p.Module.GoVersion == "" || older(v) {
		return "the language of its module has no generics"
	}
	for _, name := range p.CompiledGoFiles {
		if !slices.Contains(p.GoFiles, name) {
			return "cgo"
		}
	}
	return ""
}

// older reports whether a language version is below 1.18.
func older(v string) bool {
	var minor int
	fmt.Sscanf(v, "go1.%d", &minor)
	return minor < 18
}

// Flags are the arguments that make go build, go run and go test use o. Without
// inlining, each function has one entry.
func (o *Overlay) Flags() []string {
	flags := []string{"-overlay=" + o.File}
	for _, p := range o.Packages {
		flags = append(flags, "-gcflags="+p+"=-l")
	}
	return flags
}
