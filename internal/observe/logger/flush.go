//go:build bfobserve

package bfobserve

import (
	"bufio"
	"fmt"
	"internal/runtime/exithook"
	"os"
	"reflect"
	"runtime"
	"strings"
)

// The log is written when the process ends, to a file of its own in the
// directory that the environment names.
func init() {
	if dir := os.Getenv("BFOBSERVE_OUT"); dir != "" {
		exithook.Add(exithook.Hook{F: func() { flush(dir) }, RunOnFailure: true})
	}
}

func flush(dir string) {
	f, err := os.Create(fmt.Sprintf("%s/%d.log", dir, os.Getpid()))
	if err != nil {
		os.Stderr.WriteString("bfobserve: " + err.Error() + "\n")
		return
	}
	w := bufio.NewWriter(f)
	byName := map[string]int{}
	for id := range funcs {
		if n := funcs[id].entered.Load(); n > 0 {
			byName[funcs[id].name] = id
			fmt.Fprintln(w, "func", id, n)
		}
	}
	for id := range sites {
		if s := &sites[id]; s.made.Load() > 0 {
			fmt.Fprintln(w, "site", id, s.made.Load(), s.tracked.Load())
		}
	}
	for id := range uses {
		u := &uses[id]
		if u.events.Load() == 0 {
			continue
		}
		u.mu.Lock()
		u.settle()
		fmt.Fprintln(w, "use", id, u.events.Load(), u.unknown.Load())
		for k, n := range u.facts {
			fmt.Fprintln(w, "fact", id, k>>32, uint32(k), n)
		}
		for t, n := range u.types {
			if s := typeName(t); s != "" {
				fmt.Fprintln(w, "type", id, n, s)
			}
		}
		for pc, n := range u.code {
			if fn, ok := function(byName, pc); ok {
				fmt.Fprintln(w, "call", id, fn, n)
			} else {
				fmt.Fprintln(w, "foreign", id, n)
			}
		}
		u.mu.Unlock()
	}
	fmt.Fprintln(w, "overlap", overlap.Load())
	if err := w.Flush(); err != nil {
		os.Stderr.WriteString("bfobserve: " + err.Error() + "\n")
	}
	f.Close()
}

// function returns the function that was entered whose code, or a wrapper of
// which for a method value or a pointer receiver, starts at pc.
func function(byName map[string]int, pc uintptr) (int, bool) {
	f := runtime.FuncForPC(pc)
	if f == nil {
		return 0, false
	}
	name := strings.TrimSuffix(f.Name(), "-fm")
	if id, ok := byName[name]; ok {
		return id, true
	}
	if i := strings.Index(name, "(*"); i >= 0 { // the wrapper of a value method
		if j := strings.IndexByte(name[i:], ')'); j >= 0 {
			id, ok := byName[name[:i]+name[i+2:i+j]+name[i+j+1:]]
			return id, ok
		}
	}
	return 0, false
}

// typeName writes types made of named ones as facts do; "" for others.
func typeName(t reflect.Type) string {
	if t.Name() != "" {
		if strings.ContainsRune(t.Name(), '[') {
			return ""
		}
		if t.PkgPath() == "" {
			return t.Name()
		}
		return t.PkgPath() + "." + t.Name()
	}
	prefix := ""
	switch t.Kind() {
	case reflect.Pointer:
		prefix = "*"
	case reflect.Slice:
		prefix = "[]"
	default:
		return ""
	}
	if s := typeName(t.Elem()); s != "" {
		return prefix + s
	}
	return ""
}
