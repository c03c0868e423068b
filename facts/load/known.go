package load

import (
	"bytes"
	"fmt"
	"go/types"
	"slices"
	"sort"
	"strings"
	"sync"

	"golang.org/x/tools/go/gcexportdata"
	"golang.org/x/tools/go/packages"

	"github.com/bfverify/bfverify/facts/cache"
)

// Known is what an earlier run found of a package that has not changed since. The
// package is then neither parsed nor type-checked: who imports it has its types from
// export data.
type Known struct {
	Models  []string  // the models that joined it, by Model.ref
	LeftOut []LeftOut // as in Result
	Idle    []string
	API     cache.Key // what others depend on; see api.go
	Facts   []byte    // for facts/extract
}

// A Keeper finds what is known. Its methods may be called by several goroutines.
type Keeper interface {
	// Known returns what is known under a key, or nil.
	Known(key cache.Key) *Known
	// Export returns the export data of the package that is known under a key, or
	// nil.
	Export(key cache.Key) []byte
	// Source returns the ids of packages that are needed from source besides those
	// that are not known, because they declare generic functions which those
	// instantiate. It is told of all packages, dependencies first, before Known is
	// called, so that it can guess.
	Source(all []Unit) []string
}

// A Unit is a package before anything is known of it.
type Unit struct {
	ID      string
	Own     cache.Key // of what is its own: files, build and models
	Imports []string  // ids
}

// A Reuse says what of earlier runs Check may use. The zero value is nothing.
type Reuse struct {
	Keeper Keeper
	Base   *cache.Recipe // of what holds for all packages besides what is listed
}

// kept is the part of a checker that knows what earlier runs found.
type kept struct {
	Keeper
	state  map[*packages.Package]*pkgState // made at the start
	source map[string]bool
	readMu sync.Mutex // held while export data is read
	lost   []string   // ids of packages whose export data could not be
}

// A LostError reports that packages are known, but not their export data: they are
// needed from source.
type LostError struct{ IDs []string }

func (e *LostError) Error() string {
	return "no export data is kept of " + strings.Join(e.IDs, ", ")
}

type pkgState struct {
	own   *cache.Recipe // of its own; then of key
	below []*pkgState   // of all packages below
	key   cache.Key
	api   cache.Key
	known *Known // or nil
	note  Known  // what the checker did with models, of a package from source
	read  bool   // its types are complete
	err   error  // of reading
}

// newKept prepares for what is known of the packages.
func (l *List) newKept(r Reuse) *kept {
	if r.Keeper == nil {
		return nil
	}
	k := &kept{Keeper: r.Keeper, state: map[*packages.Package]*pkgState{}, source: map[string]bool{}}
	l.recipe(r.Base)
	base := r.Base.Sum()
	seen := map[*packages.Package]bool{}
	var units []Unit
	for _, root := range l.roots {
		closure(root, seen, func(p *packages.Package) {
			r := cache.NewRecipe("package")
			r.Key(base)
			l.pkgRecipe(r, p)
			u := Unit{ID: p.ID}
			for _, path := range imports(p) {
				r.Strings([]string{path, p.Imports[path].ID})
				u.Imports = append(u.Imports, p.Imports[path].ID)
			}
			u.Own = r.Sum()
			units = append(units, u)
			s := &pkgState{own: r}
			closure(p, map[*packages.Package]bool{}, func(q *packages.Package) {
				if q != p {
					s.below = append(s.below, k.state[q])
				}
			})
			k.state[p] = s
		})
	}
	for _, id := range k.Source(units) {
		k.source[id] = true
	}
	return k
}

// find finds what is known of p, whose dependencies are done.
//
// The key of a package is a hash of what is its own, and of what others may depend on
// of each package below it. So a change that others cannot see leaves their keys.
func (k *kept) find(p *packages.Package) *pkgState {
	s := k.state[p]
	for _, q := range s.below {
		s.own.Key(q.api)
	}
	s.key = s.own.Sum()
	if !isTestMain(p) && p.PkgPath != "unsafe" {
		if s.known = k.Known(s.key); s.known != nil {
			s.api = s.known.API
		}
	}
	return s
}

// use takes what is known of p in place of its source.
func (c *checker) use(p *packages.Package, s *pkgState) {
	p.Types = types.NewPackage(p.PkgPath, p.Name)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.models.of(p) {
		if slices.Contains(s.known.Models, m.ref()) {
			m = m.at(p)
			c.used[m.At] = m
		}
	}
	c.left = append(c.left, s.known.LeftOut...)
	c.idle = append(c.idle, s.known.Idle...)
}

// ref tells a model from the others of its package.
func (m *Model) ref() string { return fmt.Sprint(m.User(), " ", m.Name) }

// typesOf returns the types of p, which some package from source imports. Those of
// the packages that it refers to are incomplete until they are asked for, too.
func (c *checker) typesOf(p *packages.Package) (*types.Package, error) {
	if c.kept == nil || p.TypesInfo != nil {
		return p.Types, nil
	}
	k := c.kept
	k.readMu.Lock()
	defer k.readMu.Unlock()
	s := k.state[p]
	if s.read {
		return p.Types, s.err
	}
	s.read = true
	world := map[string]*types.Package{} // as p sees it
	closure(p, map[*packages.Package]bool{}, func(q *packages.Package) { world[q.PkgPath] = q.Types })
	if _, s.err = gcexportdata.Read(bytes.NewReader(k.Export(s.key)), c.fset, world, p.PkgPath); s.err != nil {
		k.lost = append(k.lost, p.ID)
	}
	return p.Types, s.err
}

// Fresh is what a package from source is known by from now on.
type Fresh struct {
	ID    string
	Key   cache.Key
	Known Known // without Facts
	pkg   *packages.Package
}

// Export returns the export data of the package, as types in it are now.
func (f *Fresh) Export() ([]byte, error) {
	var b bytes.Buffer
	err := gcexportdata.Write(&b, f.pkg.Fset, f.pkg.Types)
	return b.Bytes(), err
}

// tellKept puts what is known and what is new into r.
func (c *checker) tellKept(r *Result) {
	if c.kept == nil {
		return
	}
	r.Known = map[string]*Known{}
	for p, s := range c.kept.state {
		switch {
		case s.known != nil:
			r.Known[p.ID] = s.known
		case !isTestMain(p) && p.PkgPath != "unsafe":
			r.Fresh = append(r.Fresh, &Fresh{ID: p.ID, Key: s.key, Known: s.note, pkg: p})
		}
	}
	sort.Slice(r.Fresh, func(i, j int) bool { return r.Fresh[i].ID < r.Fresh[j].ID })
}
