package guards

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bfverify/bfverify/export"
)

var (
	mu  = Lock{Field, "p.T.mu", "mu"}
	own = Lock{Owner, "p.T.mu", ""}
	f   = Location{"example.com/p", "T", "f"}
)

func access(line int, op string, shared, open bool, held ...Lock) Access {
	return Access{Side: export.Side{Pos: export.Pos{File: "a.go", Line: line, Col: 1}, Op: op}, Shared: shared, Open: open, Held: held}
}

// TestTable holds that an access has the locks that are held each time it is shared,
// in whatever order its instances are added.
func TestTable(t *testing.T) {
	list := []Access{
		access(1, "write", true, false, mu, own),
		access(1, "write", true, false, own, mu),
		access(1, "write", false, false), // a private instance says nothing
		access(2, "read", true, false, mu),
		access(2, "read", true, true), // reached once without the lock
		access(2, "write", true, false, mu),
		access(3, "read", false, false, mu),
	}
	for shift := range list {
		tab := NewTable()
		for i := range list {
			tab.Add(f, list[(i+shift)%len(list)])
		}
		got := tab.Guarded()
		if len(got) != 1 {
			t.Fatalf("%d locations", len(got))
		}
		g := got[0]
		if g.Lock != mu || g.Held != 2 || g.Shared != 3 || g.Private != 1 || g.Rank() != 0 {
			t.Errorf("shift %d: %+v", shift, g)
		}
		if len(g.Others) != 1 || g.Others[0] != (Count{own, 1}) {
			t.Errorf("shift %d: others are %v", shift, g.Others)
		}
		if len(g.Without) != 1 || g.Without[0].Pos.Line != 2 || g.Without[0].Op != "read" || !g.Without[0].Open {
			t.Errorf("shift %d: without are %v", shift, g.Without)
		}
	}
}

// TestRank holds the order: what misses the lock now and then, what never does, what
// mostly does. Who has another lock that does misses nothing; who has a wrong one, so
// that the pair is open, does.
func TestRank(t *testing.T) {
	tab := NewTable()
	add := func(field string, as ...Access) {
		for _, a := range as {
			tab.Add(Location{"example.com/p", "T", field}, a)
		}
	}
	add("none", access(1, "read", true, false))
	add("alone", access(1, "read", false, false, mu))
	add("half", access(1, "read", true, false, mu), access(2, "read", true, false))
	add("all", access(1, "read", true, false, mu))
	add("two", access(1, "read", true, false, mu), access(2, "read", true, false, own))
	add("wrong", access(1, "read", true, false, mu), access(2, "read", true, false, mu), access(3, "read", true, true, own))
	add("most", access(1, "read", true, false, mu), access(2, "read", true, false, mu), access(3, "read", true, false, mu), access(4, "read", true, false))
	var names []string
	for _, g := range tab.Guarded() {
		names = append(names, g.Field)
	}
	if got, want := strings.Join(names, " "), "most wrong all two half"; got != want {
		t.Errorf("the order is %s, not %s", got, want)
	}
}

// source has fields that can be annotated, named yes..., and others.
const source = `package p

import "sync"

// T is documented.
type T[E any] struct {
	mu sync.Mutex

	yes1 int // a comment that ends the line
	// yes2 has a comment.
	yes2 map[string]E
	// yes3 has a comment.
	// +checkatomic
	yes3 int32
	yes4, yes5 int
	yes6, no1  int
	yes10 int; no3 int
	// +checklocks:mu
	no4 int
	no5 int // +checklocksignore
	/* no6 */
	no6 int
	*yes7
	yes8[E]
	in struct {
		no7 int
	}
}

type yes7 struct{}

type yes8[E any] struct{ no8 E }

func _() {
	type local struct {
		yes9 int
	}
	_ = local{}.yes9
}
`

// every returns a guarded location for each name in a source of which what says yes.
func every(t *testing.T, src string, what func(name string) bool) []*Guarded {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	var list []*Guarded
	seen := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && what(id.Name) && !seen[id.Name] {
			seen[id.Name] = true
			at := fset.Position(id.Pos())
			list = append(list, &Guarded{Location: Location{"p", "T", id.Name}, Lock: mu, Pos: export.Pos{File: "p.go", Line: at.Line, Col: at.Column}, Held: 1, Shared: 1})
		}
		return true
	})
	return list
}

// TestAnnotate annotates what can be, once, in files of each kind of line end, and
// says why it leaves the rest.
func TestAnnotate(t *testing.T) {
	for _, end := range []string{"\n", "\r\n"} {
		src := strings.ReplaceAll(source, "\n", end)
		list := every(t, src, func(name string) bool {
			return strings.HasPrefix(name, "yes") || strings.HasPrefix(name, "no") && name != "no1"
		})
		out, left, err := Annotate([]byte(src), list)
		if err != nil {
			t.Fatal(err)
		}
		if end == "\r\n" && strings.Count(string(out), "\n") != strings.Count(string(out), end) {
			t.Error("the lines end in two ways")
		}
		text := strings.ReplaceAll(string(out), "\r\n", "\n")
		for _, want := range []string{
			"\n\n\t// +checklocks:mu\n\tyes1 int // a comment that ends the line\n",
			"\t// yes2 has a comment.\n\t//\n\t// +checklocks:mu\n\tyes2 map",
			"\t// yes3 has a comment.\n\t// +checkatomic\n\t// +checklocks:mu\n\tyes3 int32",
			"\t// +checklocks:mu\n\tyes4, yes5 int\n\tyes6, no1  int\n",
			"\t// +checklocks:mu\n\t*yes7\n\t// +checklocks:mu\n\tyes8[E]\n\tin struct",
			"\t\t// +checklocks:mu\n\t\tyes9 int\n",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
		if n := strings.Count(text, "+checklocks:"); n != 1+8 {
			t.Errorf("there are %d annotations", n)
		}
		var why []string
		for _, u := range left {
			why = append(why, u.Guarded.Field+": "+u.Why)
		}
		for _, want := range []string{
			"yes6: it is declared together with others (yes6, no1), and not all of these are guarded so",
			"no3: it is declared with others on one line",
			"no4: it has an annotation", "no5: it has an annotation", "no6: its comment is no line comment",
			"no7: it is no field of a struct type that has a name", "no8: it is declared with others on one line",
		} {
			if !strings.Contains(strings.Join(why, "\n"), want) {
				t.Errorf("left are\n%s\nwithout %s", strings.Join(why, "\n"), want)
			}
		}
		again, _, err := Annotate(out, every(t, string(out), func(name string) bool { return name == "yes1" }))
		if err != nil || string(again) != string(out) {
			t.Errorf("what is annotated is annotated again: %v\n%s", err, again)
		}
	}
}

// TestPatch applies patches, also to a file without a last line end.
func TestPatch(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here")
	}
	for _, src := range []string{source, strings.ReplaceAll(source, "\n", "\r\n"), "package p\n\ntype T struct {\n\tyes int\n}\n\nvar x T"} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o777); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, "sub", "p.go")
		if err := os.WriteFile(name, []byte(src), 0o666); err != nil {
			t.Fatal(err)
		}
		list := every(t, src, func(name string) bool { return strings.HasPrefix(name, "yes") })
		want, _, err := Annotate([]byte(src), list)
		if err != nil {
			t.Fatal(err)
		}
		patch, _, err := Patch("sub/p.go", []byte(src), list)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "apply", "-")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(patch)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, patch)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != string(want) {
			t.Errorf("%v: the patch gives\n%s\nnot\n%s", err, got, want)
		}
	}
}
