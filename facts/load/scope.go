package load

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A Scope says whose races are reported: the packages whose accesses and
// objects count. Analysis always covers the whole program.
type Scope struct {
	flag  string    // as given
	all   bool      // every package
	named bool      // those named on the command line
	pats  []pattern // otherwise: any of these
}

// ParseScope compiles the -scope flag:
//
//	""         the packages named on the command line
//	all        every package of the program
//	p,q/...    the packages that match a pattern: an import path, a path from
//	           dir that starts with a dot, or std; "..." stands for any text
//
// An external test package p_test is in scope where p is. dir is the -C
// directory; "" is the current one.
func ParseScope(flag, dir string) (*Scope, error) {
	s := &Scope{flag: flag}
	switch strings.TrimSpace(flag) {
	case "":
		s.named = true
		return s, nil
	case "all":
		s.all = true
		return s, nil
	}
	abs, err := absDir(dir)
	if err != nil {
		return nil, err
	}
	for _, word := range strings.Split(flag, ",") {
		word = strings.TrimSpace(word)
		switch word {
		case "":
			return nil, &ScopeError{Flag: flag, What: "an empty pattern"}
		case "all":
			s.all = true
			continue
		}
		s.pats = append(s.pats, newPattern(word, abs))
	}
	return s, nil
}

// String returns the flag that the scope was compiled from.
func (s *Scope) String() string { return s.flag }

// Apply sets the Scope of every program of r. A pattern that matches no package
// of any program is a *ScopeError, as it would hide what it was meant to show.
func (s *Scope) Apply(r *Result) error {
	used := make([]bool, len(s.pats))
	for _, prog := range r.Programs {
		prog.Scope = make(map[string]bool)
		for _, p := range prog.Packages() {
			if isTestMain(p) {
				continue // written by the go command, and nobody's code
			}
			in := s.all || s.named && r.Named[p.PkgPath]
			for i, pat := range s.pats {
				if pat.match(p, r.Build.GOROOT) {
					in, used[i] = true, true
				}
			}
			if in {
				prog.Scope[p.PkgPath] = true
			}
		}
	}
	if len(r.Programs) == 0 {
		return nil
	}
	for i, ok := range used {
		if !ok {
			return &ScopeError{Flag: s.flag, What: fmt.Sprintf("%q, which matches no package of %s", s.pats[i].text, programList(r.Programs))}
		}
	}
	return nil
}

// programList names a few programs for a message.
func programList(progs []*Program) string {
	var names []string
	for i, p := range progs {
		if i == 3 {
			names = append(names, fmt.Sprintf("%d more", len(progs)-3))
			break
		}
		names = append(names, p.String())
	}
	return strings.Join(names, ", ")
}

// A pattern is one package pattern as the go command reads it.
type pattern struct {
	text  string         // as given
	std   bool           // all of std
	local bool           // re is for directories, not import paths
	re    *regexp.Regexp // otherwise
}

// newPattern compiles a pattern; dir is absolute and is what "." means.
func newPattern(text, dir string) pattern {
	p := pattern{text: text}
	if text == "std" {
		p.std = true
		return p
	}
	full := text
	if text == "." || text == ".." || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") || filepath.IsAbs(text) {
		p.local = true
		if !filepath.IsAbs(text) {
			full = filepath.Join(realPath(dir), text) // keeps "..." elements, which are no ".."
		}
		full = filepath.ToSlash(filepath.Clean(full))
	}
	// "x/..." matches x too.
	re := regexp.QuoteMeta(full)
	re = strings.ReplaceAll(re, `\.\.\.`, `.*`)
	if strings.HasSuffix(re, `/.*`) {
		re = strings.TrimSuffix(re, `/.*`) + `(/.*)?`
	}
	p.re = regexp.MustCompile(`^` + re + `$`)
	return p
}

// match reports whether the pattern names p, whose std is at goroot. An
// external test package goes with its package.
func (t pattern) match(p *packages.Package, goroot string) bool {
	if t.std {
		return under(p.Dir, filepath.Join(goroot, "src"))
	}
	if t.local {
		return p.Dir != "" && t.re.MatchString(filepath.ToSlash(realPath(p.Dir)))
	}
	if t.re.MatchString(p.PkgPath) {
		return true
	}
	return p.ForTest != "" && p.PkgPath == p.ForTest+"_test" && t.re.MatchString(p.ForTest)
}

// under reports whether path is dir or below it.
func under(path, dir string) bool {
	return path == dir || dir != "" && strings.HasPrefix(path, strings.TrimSuffix(dir, string(os.PathSeparator))+string(os.PathSeparator))
}

// realPath returns path with symbolic links resolved, or path when that fails.
func realPath(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return path
}

// Has reports whether the scope of p holds the package path.
func (p *Program) Has(path string) bool { return p.Scope[path] }

// ScopePaths returns the paths in scope, sorted.
func (p *Program) ScopePaths() []string {
	paths := make([]string, 0, len(p.Scope))
	for path := range p.Scope {
		paths = append(paths, path)
	}
	sort.Strings(paths)
	return paths
}
