package live

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Refusal says that a Go tree is not one that the overlay is known to fit.
type Refusal struct {
	Tree   string // GOROOT
	Go     string // its version, as far as known
	Anchor string // what was looked for: a file and something in it
	Why    string
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("the run time does not fit %s (%s): %s: %s", r.Tree, r.Go, r.Anchor, r.Why)
}

// Versions of Go that the overlay was tried with.
const minMinor, maxMinor = 24, 26

// tree is a Go tree whose sources are read.
type tree struct {
	root    string
	version string
	fset    *token.FileSet
}

var versionLine = regexp.MustCompile(`^go1\.(\d+)`)

// openTree reads the version of the tree at root, and refuses those not tried.
func openTree(root string) (*tree, error) {
	t := &tree{root: root, version: "unknown version", fset: token.NewFileSet()}
	data, err := os.ReadFile(filepath.Join(root, "VERSION"))
	if err != nil {
		return nil, t.refuse("VERSION", "there is no such file")
	}
	t.version, _, _ = strings.Cut(string(data), "\n")
	m := versionLine.FindStringSubmatch(t.version)
	if m == nil {
		return nil, t.refuse("VERSION", "it does not begin with a version of Go 1")
	}
	if minor, _ := strconv.Atoi(m[1]); minor < minMinor || minor > maxMinor {
		return nil, t.refuse("VERSION", fmt.Sprintf("only Go 1.%d to 1.%d are known", minMinor, maxMinor))
	}
	return t, nil
}

func (t *tree) refuse(anchor, why string) *Refusal { return &Refusal{t.root, t.version, anchor, why} }

// path returns where a file below src is.
func (t *tree) path(rel string) string { return filepath.Join(t.root, "src", filepath.FromSlash(rel)) }

// read returns a file below src.
func (t *tree) read(rel string) ([]byte, error) {
	src, err := os.ReadFile(t.path(rel))
	if err != nil {
		return nil, t.refuse(rel, "there is no such file")
	}
	return src, nil
}

func (t *tree) parse(rel string) (*ast.File, []byte, error) {
	src, err := t.read(rel)
	if err != nil {
		return nil, nil, err
	}
	f, err := parser.ParseFile(t.fset, rel, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, t.refuse(rel, err.Error())
	}
	return f, src, nil
}

// signatures returns the types of the functions that a file declares, by name, without
// the names of parameters.
func signatures(f *ast.File) map[string]string {
	sigs := map[string]string{}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
			sigs[fn.Name.Name] = signature(fn.Type)
		}
	}
	return sigs
}

func signature(t *ast.FuncType) string {
	list := func(l *ast.FieldList) string {
		if l == nil {
			return ""
		}
		var types []string
		for _, p := range l.List {
			var b strings.Builder
			printer.Fprint(&b, token.NewFileSet(), p.Type)
			types = append(types, slices.Repeat([]string{b.String()}, max(1, len(p.Names)))...)
		}
		return strings.Join(types, ", ")
	}
	return "(" + list(t.Params) + ") (" + list(t.Results) + ")"
}

// require refuses the tree unless each function of want is in have, with the same
// signature. ("abi.Type" and "_type" are one type.)
func (t *tree) require(rel string, want, have map[string]string) error {
	var names []string
	for name := range want {
		names = append(names, name)
	}
	slices.Sort(names)
	same := strings.NewReplacer("*abi.Type", "*_type")
	for _, name := range names {
		got, ok := have[name]
		switch {
		case !ok:
			return t.refuse(rel+": func "+name, "the run time has no such function")
		case same.Replace(got) != same.Replace(want[name]):
			return t.refuse(rel+": func "+name, fmt.Sprintf("it is %s, the run time's %s", want[name], got))
		}
	}
	return nil
}

// replace replaces old, which must occur exactly n times.
func (t *tree) replace(rel string, src []byte, n int, old, new string) ([]byte, error) {
	if got := strings.Count(string(src), old); got != n {
		return nil, t.refuse(rel+": "+strings.TrimSpace(old), fmt.Sprintf("it occurs %d times, not %d", got, n))
	}
	return []byte(strings.ReplaceAll(string(src), old, new)), nil
}
