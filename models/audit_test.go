package models_test

import (
	"context"
	"flag"
	"fmt"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/extract"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/models"
)

var auditCgo = flag.Bool("cgo", false, "audit std as it is with cgo too")

// everything returns the facts of a program that imports all of std that a
// program may import.
func everything(t *testing.T, cgo string) *facts.Universe {
	t.Helper()
	if testing.Short() {
		t.Skip("loads the standard library")
	}
	out, err := exec.Command("go", "list", "std").Output()
	if err != nil {
		t.Fatal(err)
	}
	src := "package main\n\nimport (\n"
	for _, path := range strings.Fields(string(out)) {
		if strings.HasPrefix(path, "vendor/") || strings.Contains("/"+path+"/", "/internal/") {
			continue
		}
		src += fmt.Sprintf("\t_ %q\n", path)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/all\n\ngo 1.26\n", "main.go": src + ")\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	res, err := load.Load(context.Background(), load.Config{Dir: dir, Models: models.Files(), Env: append(os.Environ(), "CGO_ENABLED="+cgo, "GOFLAGS=")})
	if err != nil {
		t.Fatal(err)
	}
	u, err := extract.Universe(res)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// mentions returns what refers to each function: callers, functions that take it
// as a value, and types of which it is a method ("method").
func mentions(u *facts.Universe) map[facts.FuncID][]string {
	by := map[facts.FuncID][]string{}
	for _, f := range u.Funcs {
		if f == nil {
			continue
		}
		for _, c := range f.Calls {
			if c.Static != 0 {
				by[c.Static] = append(by[c.Static], f.Name)
			}
		}
		for _, r := range f.FuncRef {
			by[r.Fn] = append(by[r.Fn], f.Name)
		}
	}
	for _, t := range u.Types {
		for _, m := range t.Methods {
			by[m.Fn] = append(by[m.Fn], "method")
		}
	}
	return by
}

// hands reports whether a function is handed a function, or an interface value
// that a program may have made: what it could call back.
func hands(u *facts.Universe, f *facts.Func) bool {
	seen := map[facts.TypeID]bool{}
	var has func(t facts.TypeID) bool
	has = func(t facts.TypeID) bool {
		if t == 0 || seen[t] {
			return false
		}
		seen[t] = true
		switch x := &u.Types[t]; x.Kind {
		case facts.FuncKind:
			return true
		case facts.Interface:
			// Only these packages have types with the methods of these two.
			return x.Name != "reflect.Type" && x.Name != "internal/reflectlite.Type"
		case facts.Struct, facts.Array, facts.Slice:
			for _, f := range x.Fields {
				if has(f.Type) {
					return true
				}
			}
			return has(x.Elem)
		}
		return false
	}
	for i, p := range f.Params {
		if i == 0 && f.Recv != 0 && u.Types[f.Recv].Kind != facts.FuncKind {
			continue // the package's own
		}
		if has(f.Regs[p].Type) {
			return true
		}
	}
	return false
}

// TestAudit goes through all functions of std, as linux/amd64 builds it, that are
// not analysed from their source and have no model.
//
// Those without body that something refers to are assumed to do the worst; each
// has a reason in unmodelled. Those of packages that are declared inert must not
// be handed anything to call back, or have a reason in inert.
func TestAudit(t *testing.T) {
	t.Run("nocgo", func(t *testing.T) { audit(t, "0", unmodelled, callbacks) })
	if *auditCgo {
		t.Run("cgo", func(t *testing.T) { audit(t, "1", withCgo, callbacks) })
	}
}

func audit(t *testing.T, cgo string, unmodelled, callbacks map[string]string) {
	u := everything(t, cgo)
	by := mentions(u)
	inert := map[string]bool{}
	for _, f := range u.Funcs {
		if f != nil && f.Is(facts.FnInert) {
			inert[f.Name] = true
		}
	}
	// outside returns what refers to f and runs. The name of a method that is not
	// exported is known to its own package only.
	outside := func(f *facts.Func) []string {
		name := f.Name[strings.LastIndexByte(f.Name, '.')+1:]
		exported := token.IsExported(name)
		var list []string
		for _, by := range by[f.ID] {
			if !inert[by] && (exported || by != "method" && !strings.HasPrefix(by, "wrapper ")) {
				list = append(list, by)
			}
		}
		if exported && f.Recv == 0 && f.Parent == 0 && !strings.Contains("/"+f.Pkg+"/", "/internal/") {
			list = append(list, "any program")
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	check := func(what string, f *facts.Func, reasons map[string]string, used map[string]bool) {
		for _, name := range []string{f.Name, f.Name[:strings.LastIndexByte(f.Name, '.')] + ".*"} {
			if reasons[name] != "" {
				used[name] = true
				return
			}
		}
		t.Errorf("%s %s, to which refers: %s (write a model, or a reason here)", what, f.Name, strings.Join(outside(f), ", "))
	}
	usedA, usedB := map[string]bool{}, map[string]bool{}
	n := 0
	for _, f := range u.Funcs {
		switch {
		case f == nil || f.Is(facts.FnModel) || len(outside(f)) == 0:
		case f.Is(facts.FnUnknown):
			n++
			check("no model of", f, unmodelled, usedA)
		case f.Is(facts.FnInert) && hands(u, f):
			n++
			check("an inert function that may call back:", f, callbacks, usedB)
		}
	}
	if len(inert) < 1000 || n == 0 {
		t.Errorf("%d inert functions and %d to look at are too few to tell", len(inert), n)
	}
	for name := range unmodelled {
		if !usedA[name] {
			t.Errorf("%s needs no reason: there is none, it has a model, or nothing refers to it", name)
		}
	}
	for name := range callbacks {
		if !usedB[name] {
			t.Errorf("%s needs no reason: there is none, it has a model, or it is handed nothing to call", name)
		}
	}
}

// unmodelled has the functions of std without body and model that something
// refers to, each with the reason why that is no loss.
var unmodelled = map[string]string{
	"runtime/cgo._runtime_cgo_panic_internal": "only C calls what calls it",
}

// withCgo has those of std as it is with cgo. What cgo writes is assumed to do the
// worst where it is reached; the packages' Go functions that lead there are
// modelled but for a few of net's.
var withCgo = map[string]string{
	"runtime/cgo._runtime_cgo_panic_internal": "only C calls what calls it",
	"net.*":     "a call of C: the worst is assumed",
	"os/user.*": "a call of C: the worst is assumed",
	"plugin.*":  "a call of C: the worst is assumed",
}

// callbacks has the inert functions that are handed a function or an interface.
var callbacks = map[string]string{
	"internal/abi.TypeOf":                    "looks at the type word of the interface",
	"reflect.rtypeOf":                        "looks at the type word of the interface",
	"internal/poll.init$3":                   "a hook for the package's own tests, which does nothing",
	"reflect.(*structType).*":                "only reflect calls methods of the type, which is not exported; those of rtype are modelled",
	"internal/coverage/cfile.(*emitState).*": "only the package's own functions have the type; those that are handed a writer are modelled",
	"testing.(matchStringOnly).*":            "each but MatchString, which is modelled, returns an error and does nothing with what it is handed",
	"testing.(*chattyPrinter).*":             "only the runner has one, and it prints what the runner made",
}
