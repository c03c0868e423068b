// Package guards tells which locks guard which fields and variables, from the
// accesses to them and the locks surely held there.
//
// What is said is a count and no proof: "counter.n is guarded by counter.mu at 14
// of 15 shared accesses". The locks of an access are a must-set, so that no count is
// too high; which accesses are shared is a may-set, so that some of those that count
// as unguarded may run beside nothing after all.
//
// A Table collects accesses of any number of programs. An access is a place in the
// source: it is shared if it is so in some program, goroutine or call, and has the
// locks that are held wherever it is shared.
package guards

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/bfverify/bfverify/export"
)

// Location is a field of a struct type, or a package variable.
type Location struct {
	Pkg string // import path
	// Type is the struct's name; "" for a variable. A field of a variable whose type
	// has no name is Field "v.f".
	Type, Field string
}

// String returns the location as people write it: the last element of the import
// path, and the names.
func (l Location) String() string {
	s := path.Base(l.Pkg) + "."
	if l.Type != "" {
		typ, _, _ := strings.Cut(l.Type, "@") // where a local type is declared
		s += typ + "."
	}
	return s + l.Field
}

// Kind says what a lock is to what it guards.
type Kind string

// The kinds.
const (
	Field  Kind = "field"  // it lies in the same struct, no pointer in between
	Path   Kind = "path"   // a field of the same struct, written once, points to it
	Global Kind = "global" // it is a package variable, or lies in one
	Owner  Kind = "owner"  // it lies in the object through which the accessed one is reached
	Object Kind = "object" // it lies in another object, one in the whole run
)

// kinds is the order of preference: who guards by several locks means the nearest.
var kinds = []Kind{Field, Path, Global, Owner, Object}

// Lock is a lock as it guards a location.
type Lock struct {
	Kind Kind   `json:"kind"`
	Name string `json:"lock"` // as people write it
	// Expr names the lock in the scope of the location's declaration: "mu", "inner.mu",
	// "globalMu". "" if no expression does.
	Expr string `json:"expr"`
}

// Access is an access to a location at a place in the source.
type Access struct {
	export.Side
	Shared bool   // something that conflicts with it may run beside it, locks aside
	Open   bool   // it is in an open pair
	Held   []Lock // the locks that guard it: a write only those held for writing
}

// Table collects accesses.
type Table struct {
	by map[Location]map[place]*Access
}

// place tells accesses apart.
type place struct {
	pos export.Pos
	op  string
}

// NewTable returns an empty table.
func NewTable() *Table { return &Table{by: map[Location]map[place]*Access{}} }

// Add adds an access, as one program, goroutine and call make it.
func (t *Table) Add(l Location, a Access) {
	m := t.by[l]
	if m == nil {
		m = map[place]*Access{}
		t.by[l] = m
	}
	k := place{a.Pos, a.Op}
	old := m[k]
	switch {
	case old == nil || a.Shared && !old.Shared:
		a.Held = slices.Clone(a.Held)
		m[k] = &a
	case a.Shared:
		old.Open = old.Open || a.Open
		n := len(old.Held)
		old.Held = slices.DeleteFunc(old.Held, func(x Lock) bool { return !slices.Contains(a.Held, x) })
		if len(old.Held) < n { // show where fewer are held
			old.Side = a.Side
		}
	}
}

// Guarded is a location with the lock that guards most of its shared accesses.
type Guarded struct {
	Location
	Lock
	Pos     export.Pos // of the declaration, if known
	Held    int        // shared accesses under the lock, of
	Shared  int        // so many
	Private int        // further accesses, which nothing that conflicts with them runs beside
	Others  []Count    // other locks that are held at some
	Without []Access   // shared accesses without the lock, by place
}

// Count is how many shared accesses a lock guards.
type Count struct {
	Lock
	Held int `json:"held"`
}

// bare reports whether an access without the lock of its location has no other one
// that would do.
func (a *Access) bare() bool { return a.Open || len(a.Held) == 0 }

// Rank says how interesting a location is: 0 guarded at most shared accesses but
// not all, 1 at all, by one lock or several, 2 at no more than half.
func (g *Guarded) Rank() int {
	switch {
	case !slices.ContainsFunc(g.Without, func(a Access) bool { return a.bare() }):
		return 1
	case 2*g.Held > g.Shared:
		return 0
	}
	return 2
}

// Guarded lists the locations some shared access to which is under a lock, by rank;
// those of rank 0 and 2 by the share of accesses that are guarded, greatest first,
// then all by name.
func (t *Table) Guarded() []Guarded {
	var out []Guarded
	for l, m := range t.by {
		if g, ok := guarded(l, m); ok {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b Guarded) int {
		return cmp.Or(a.Rank()-b.Rank(), b.Held*a.Shared-a.Held*b.Shared, strings.Compare(a.Pkg, b.Pkg), strings.Compare(a.Type, b.Type), strings.Compare(a.Field, b.Field))
	})
	return out
}

// guarded is one location of Guarded.
func guarded(l Location, m map[place]*Access) (g Guarded, ok bool) {
	g.Location = l
	held := map[Lock]int{}
	var shared []*Access
	for _, a := range m {
		if !a.Shared {
			g.Private++
			continue
		}
		shared = append(shared, a)
		for _, k := range a.Held {
			held[k]++
		}
	}
	if len(held) == 0 {
		return g, false
	}
	for k, n := range held {
		g.Others = append(g.Others, Count{k, n})
	}
	slices.SortFunc(g.Others, func(a, b Count) int {
		return cmp.Or(b.Held-a.Held, slices.Index(kinds, a.Kind)-slices.Index(kinds, b.Kind), strings.Compare(a.Name, b.Name), strings.Compare(a.Expr, b.Expr))
	})
	g.Lock, g.Held, g.Shared = g.Others[0].Lock, g.Others[0].Held, len(shared)
	g.Others = g.Others[1:]
	for _, a := range shared {
		if !slices.Contains(a.Held, g.Lock) {
			g.Without = append(g.Without, *a)
		}
	}
	slices.SortFunc(g.Without, func(a, b Access) int {
		return cmp.Or(strings.Compare(a.Pos.File, b.Pos.File), a.Pos.Line-b.Pos.Line, a.Pos.Col-b.Pos.Col, strings.Compare(a.Op, b.Op))
	})
	return g, true
}
