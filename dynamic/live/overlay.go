package live

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed tree/*/*.go
var templates embed.FS

// tag keeps the go command from building the templates here.
const tag = "//go:build bfverify\n"

// Overlay is what makes a build of a Go tree use the run time.
type Overlay struct {
	Version string            // of the tree
	Replace map[string][]byte // files of the tree, by path, with their new content; nil for none
}

// New makes the overlay for the Go tree at goroot. A tree that it is not known to fit
// is a *Refusal. Same tree, same bytes.
func New(goroot string) (*Overlay, error) {
	t, err := openTree(goroot)
	if err != nil {
		return nil, err
	}
	b := &builder{tree: t, out: &Overlay{t.version, map[string][]byte{}}}
	for _, step := range []func() error{b.runtime, b.shadow, b.atomic, b.pointers, b.mutex, b.reflect} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return b.out, nil
}

// Write writes the overlay into dir and returns the path of the file for the go
// command's flag -overlay. Files that are there with the same content are left alone:
// builds are cached by content, so all folders share them.
func (o *Overlay) Write(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for name, src := range o.Replace {
		if src == nil {
			replace[name] = ""
			continue
		}
		base := filepath.Base(filepath.Dir(name)) + "_" + filepath.Base(name)
		replace[name] = filepath.Join(dir, base)
		if err := writeChanged(replace[name], src); err != nil {
			return "", err
		}
	}
	data, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return file, writeChanged(file, data)
}

// writeChanged writes a file, at once, unless it has that content.
func writeChanged(name string, data []byte) error {
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, data) {
		return nil
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".tmp*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if err2 := tmp.Close(); err == nil {
		err = err2
	}
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}

// builder makes an Overlay.
type builder struct {
	*tree
	out *Overlay
}

func (b *builder) emit(rel string, src []byte) { b.out.Replace[b.path(rel)] = src }

// template returns a file of the folder tree, with the build tag race: a program is built
// with that tag, so it has the files that it has under Go's race detector.
func template(name string) ([]byte, error) {
	src, err := templates.ReadFile("tree/" + name)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(src, []byte(tag)) {
		return nil, fmt.Errorf("%s does not begin with %q", name, tag)
	}
	return append([]byte("//go:build race\n"), src[len(tag):]...), nil
}

// runtime puts the templates of package runtime in. Anchors: each function of race0.go
// must be among them, and each function of race.go that it exports or pushes to
// internal/race, with the same signature.
func (b *builder) runtime() error {
	entries, err := templates.ReadDir("tree/runtime")
	if err != nil {
		return err
	}
	have := map[string]string{}
	for _, e := range entries {
		src, err := template("runtime/" + e.Name())
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(b.fset, e.Name(), src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for name, sig := range signatures(f) {
			have[name] = sig
		}
		b.emit("runtime/"+e.Name(), src)
	}
	race0, src, err := b.parse("runtime/race0.go")
	if err != nil {
		return err
	}
	if !bytes.Contains(src, []byte("\nconst raceenabled = false\n")) {
		return b.refuse("runtime/race0.go: const raceenabled", "it is not there, or not false")
	}
	if err := b.require("runtime/race0.go", signatures(race0), have); err != nil {
		return err
	}
	race, _, err := b.parse("runtime/race.go")
	if err != nil {
		return err
	}
	pushed := signatures(race)
	for name := range pushed {
		if !strings.HasPrefix(name, "race_") && !strings.HasPrefix(name, "Race") {
			delete(pushed, name)
		}
	}
	if len(pushed) == 0 {
		return b.refuse("runtime/race.go: func Race*, race_*", "there is none")
	}
	for _, arch := range []string{"amd64", "arm64"} {
		rel := "runtime/race_" + arch + ".s"
		if _, err := b.read(rel); err != nil {
			return err
		}
		b.emit(rel, nil) // the calls to C, and all functions of sync/atomic
	}
	return b.require("runtime/race.go", pushed, have)
}

// shadow puts the state machine in.
func (b *builder) shadow() error {
	files, err := shadowFiles()
	if err != nil {
		return err
	}
	for name, src := range files {
		b.emit("runtime/"+name, src)
	}
	return nil
}

// pointers makes the functions for pointers of sync/atomic use the run time's for
// words.
func (b *builder) pointers() error {
	const rel = "runtime/atomic_pointer.go"
	src, err := b.read(rel)
	if err != nil {
		return err
	}
	for _, op := range []string{"Store", "Swap", "CompareAndSwap"} {
		name := "sync_atomic_" + op + "Uintptr"
		decl := "//go:linkname " + name + " sync/atomic." + op + "Uintptr\nfunc " + name
		if src, err = b.replace(rel, src, 1, decl+"(", "func _"+name+"("); err != nil {
			return err
		}
		if src, err = b.replace(rel, src, 1, name+"((*uintptr)", "bf"+op+"Uintptr((*uintptr)"); err != nil {
			return err
		}
		// The declaration, which has no body, goes.
		f, err := parser.ParseFile(b.fset, rel, src, parser.SkipObjectResolution)
		if err != nil {
			return b.refuse(rel, err.Error())
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == "_"+name {
				file := b.fset.File(fn.Pos())
				src = slices.Delete(src, file.Offset(fn.Pos()), file.Offset(fn.End()))
				break
			}
		}
	}
	b.emit(rel, src)
	return nil
}

// mutex makes sync.Mutex order what its calls of Acquire and Release say, and no more: its
// atomic operations are its own, and Lock, TryLock and Unlock are accesses.
func (b *builder) mutex() error {
	const rel = "internal/sync/mutex.go"
	f, src, err := b.parse(rel)
	if err != nil {
		return err
	}
	// Anchors: nothing of sync/atomic is used but these functions, on the state.
	calls := map[*ast.SelectorExpr]bool{}
	file := b.fset.File(f.Pos())
	var at []int
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) > 0 && isName(s.X, "atomic") && (s.Sel.Name == "CompareAndSwapInt32" || s.Sel.Name == "AddInt32") {
				calls[s] = b.source(src, n.Args[0]) == "&m.state"
			}
		case *ast.SelectorExpr:
			if isName(n.X, "atomic") && !calls[n] {
				err = b.refuse(rel+": atomic."+n.Sel.Name, "it is not one of the operations on the state of a Mutex that are known")
			} else if isName(n.X, "atomic") {
				at = append(at, file.Offset(n.Pos()))
			}
		}
		return true
	})
	if err != nil {
		return err
	}
	for _, i := range slices.Backward(at) {
		src = slices.Replace(src, i, i+len("atomic."), []byte("bf")...)
	}
	for _, edit := range [][2]string{
		{"func (m *Mutex) Lock() {\n", "\tbfTouch(&m.state)\n"},
		{"func (m *Mutex) TryLock() bool {\n", "\tbfTouch(&m.state)\n"},
		{"func (m *Mutex) Unlock() {\n", "\tbfTouch(&m.state)\n"},
	} {
		if src, err = b.replace(rel, src, 1, edit[0], edit[0]+edit[1]); err != nil {
			return err
		}
	}
	if src, err = b.replace(rel, src, 1, "\t\"sync/atomic\"\n", ""); err != nil {
		return err
	}
	own, err := template("sync/bf_mutex.go")
	if err != nil {
		return err
	}
	b.emit(rel, src)
	b.emit("internal/sync/bf_mutex.go", own)
	return nil
}

// reflect leaves a function out of what is watched that runs where there is little stack and
// nothing may grow it. All that it accesses is on its own stack.
func (b *builder) reflect() error {
	const rel = "reflect/makefunc.go"
	src, err := b.read(rel)
	if err != nil {
		return err
	}
	const fn = "//go:nosplit\nfunc moveMakeFuncArgPtrs("
	if src, err = b.replace(rel, src, 1, fn, "//go:norace\n"+fn); err != nil {
		return err
	}
	b.emit(rel, src)
	return nil
}

func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// source returns the text of a node of a file whose text is src.
func (b *builder) source(src []byte, n ast.Node) string {
	file := b.fset.File(n.Pos())
	return string(src[file.Offset(n.Pos()):file.Offset(n.End())])
}

// words are the widths of the types of sync/atomic.
var words = map[string]string{"Int32": "32", "Uint32": "32", "Int64": "64", "Uint64": "64", "Uintptr": "64"}

// atomic makes the functions of sync/atomic go through the run time, when they are
// called, and the methods of its types always. (The compiler replaces calls of the
// functions by instructions except in packages compiled with -race.)
func (b *builder) atomic() error {
	want := atomicFuncs()
	found := map[string]bool{}
	for _, rel := range []string{"sync/atomic/doc.go", "sync/atomic/doc_64.go"} {
		f, src, err := b.parse(rel)
		if err != nil && rel == "sync/atomic/doc_64.go" {
			continue // before it came, all was in doc.go; what is missed is refused below
		}
		if err != nil {
			return err
		}
		file := b.fset.File(f.Pos())
		for _, d := range slices.Backward(f.Decls) {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body != nil {
				continue
			}
			name := fn.Name.Name
			if strings.HasSuffix(name, "Pointer") && name != "LoadPointer" {
				continue // in package runtime
			}
			w, ok := want[name]
			if !ok || signature(fn.Type) != w.sig {
				return b.refuse(rel+": func "+name, "the run time has no such function")
			}
			found[name] = true
			lo, hi := fn.Pos(), fn.End()
			if fn.Doc != nil {
				lo = fn.Doc.Pos()
			}
			src = slices.Delete(src, file.Offset(lo), file.Offset(hi))
		}
		b.emit(rel, src)
	}
	names := sortedKeys(want)
	for _, name := range names {
		if !found[name] {
			return b.refuse("sync/atomic/doc.go: func "+name, "it is not there")
		}
	}
	asm, err := b.read("sync/atomic/asm.s")
	if err != nil {
		return err
	}
	for _, line := range strings.Split(string(asm), "\n") {
		if name, ok := strings.CutPrefix(line, "TEXT ·"); ok {
			name, _, _ = strings.Cut(name, "(")
			if !found[name] {
				return b.refuse("sync/atomic/asm.s: "+name, "the run time has no such function")
			}
		}
	}
	if _, err := b.read("sync/atomic/race.s"); err != nil {
		return err // an assembly file allows functions without bodies
	}
	src, err := template("atomic/bf_atomic.go")
	if err != nil {
		return err
	}
	ops, err := operations()
	if err != nil {
		return err
	}
	src = append(src, ops...)
	for _, name := range names {
		src = append(src, want[name].body...)
	}
	b.emit("sync/atomic/bf_atomic.go", src)
	for _, rel := range []string{"sync/atomic/type.go", "sync/atomic/value.go"} {
		if err := b.atomicCalls(rel, want); err != nil {
			return err
		}
	}
	return nil
}

// operations returns the declaration of the numbers by which sync/atomic and package
// runtime call the operations.
func operations() ([]byte, error) {
	const file = "runtime/bf_atomic.go"
	src, err := template(file)
	if err != nil {
		return nil, err
	}
	_, rest, found := bytes.Cut(src, []byte("\nconst (\n\tbfLoad = iota\n"))
	list, _, closed := bytes.Cut(rest, []byte("\n)\n"))
	if !found || !closed {
		return nil, fmt.Errorf("%s has no list of operations", file)
	}
	return slices.Concat([]byte("\nconst (\n\tbfLoad = iota\n"), list, []byte("\n)\n")), nil
}

// atomicFunc is a function of sync/atomic: its signature, and its source.
type atomicFunc struct {
	sig  string
	body string
}

// atomicFuncs returns the functions of sync/atomic that the run time has.
func atomicFuncs() map[string]atomicFunc {
	fns := map[string]atomicFunc{"LoadPointer": {sig: "(*unsafe.Pointer) (unsafe.Pointer)"}}
	for _, op := range []struct{ name, params, args, result string }{
		{"Load", "", "0, 0", "T"},
		{"Store", ", val T", "W(val), 0", ""},
		{"Swap", ", new T", "W(new), 0", "T"},
		{"CompareAndSwap", ", old, new T", "W(old), W(new)", "bool"},
		{"Add", ", delta T", "W(delta), 0", "T"},
		{"And", ", mask T", "W(mask), 0", "T"},
		{"Or", ", mask T", "W(mask), 0", "T"},
	} {
		for _, kind := range []string{"Int32", "Uint32", "Int64", "Uint64", "Uintptr"} {
			name := op.name + kind
			code := strings.Replace("bf"+op.name, "CompareAndSwap", "Cas", 1)
			call := "bfDo" + words[kind] + "((*W)(unsafe.Pointer(addr)), " + code + ", " + op.args + ")"
			switch op.result {
			case "T":
				call = "return T(" + call + ")"
			case "bool":
				call = "return " + call + " != 0"
			}
			args := ""
			for _, a := range strings.FieldsFunc(op.params, func(r rune) bool { return r == ',' || r == ' ' }) {
				if a != "T" {
					args += ", " + a
				}
			}
			ret := ""
			if op.result != "" {
				ret = "return "
			}
			body := "\n//go:nosplit\nfunc bf" + name + "(addr *T" + op.params + ") " + op.result + " { " + call + " }\n" +
				"\n//go:linkname " + name + "\n//go:nosplit\nfunc " + name + "(addr *T" + op.params + ") " + op.result + " { " + ret + "bf" + name + "(addr" + args + ") }\n"
			sig := "(*T" + strings.Repeat(", T", strings.Count(args, ",")) + ") (" + op.result + ")"
			t, w := strings.ToLower(kind), "uint"+words[kind]
			fns[name] = atomicFunc{sig: replaceWords(sig, t, w), body: replaceWords(body, t, w)}
		}
	}
	return fns
}

// replaceWords puts types in the place of the words T and W.
func replaceWords(s, t, w string) string {
	var b strings.Builder
	isWord := func(c byte) bool {
		return c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
	}
	for i := 0; i < len(s); i++ {
		if (s[i] == 'T' || s[i] == 'W') && (i == 0 || !isWord(s[i-1])) && (i+1 == len(s) || !isWord(s[i+1])) {
			if s[i] == 'T' {
				b.WriteString(t)
			} else {
				b.WriteString(w)
			}
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// atomicCalls makes the calls of the functions in a file of sync/atomic those of
// bf_atomic.go, which the compiler does not replace.
func (b *builder) atomicCalls(rel string, want map[string]atomicFunc) error {
	f, src, err := b.parse(rel)
	if err != nil {
		return err
	}
	file := b.fset.File(f.Pos())
	var at []int
	ast.Inspect(f, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if id, ok := c.Fun.(*ast.Ident); ok {
				if _, ok := want[id.Name]; ok {
					at = append(at, file.Offset(id.Pos()))
				}
			}
		}
		return true
	})
	if len(at) == 0 {
		return b.refuse(rel, "it calls no atomic function")
	}
	slices.Sort(at)
	for _, i := range slices.Backward(at) {
		src = slices.Insert(src, i, 'b', 'f')
	}
	b.emit(rel, src)
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
