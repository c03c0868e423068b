package main

import (
	"errors"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/bfverify/bfverify/facts/cache"
	"github.com/bfverify/bfverify/facts/extract"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/internal/image"
)

// warm is what a run takes from the cache, and puts there, up to the analysis of its
// programs. It is nil where there is no cache; its methods do nothing then.
//
// A package is known by what it is made of and what it can see of what it imports.
// Those that changed so are loaded from source, and besides them those whose generic
// functions they have instances of. Which these are is known for sure
// only when facts are extracted; so it is guessed from what the packages needed in the
// last run, and if that was not all the packages are loaded again.
type warm struct {
	s      *session
	mu     sync.Mutex // of client: a step that was cancelled may go on for a while
	client *cache.Client
	hints  cache.Key        // where last is kept
	last   map[string]*hint // by package id: of the last run, then of this one
	fresh  bool             // last is new in part
	ignore bool             // all that is known
	source map[string]bool  // what else is needed from source
}

// hint is what is kept of a package for the next run's guess.
type hint struct {
	ID    string
	Own   cache.Key // of load.Unit
	Needs []string
}

// openWarm opens the cache for what comes before the analysis.
func (s *session) openWarm() *warm {
	c := s.openCache()
	if c == nil {
		return nil
	}
	return &warm{s: s, client: c}
}

// close is to be called before the analysis, which may take long: others may have
// the cache then.
func (w *warm) close() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.s.closeCache(w.client)
	w.client = nil
}

func (w *warm) get(kind cache.Kind, key cache.Key) ([]byte, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.client == nil {
		return nil, false
	}
	return w.client.Get(kind, key)
}

func (w *warm) put(kind cache.Kind, key cache.Key, value []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.client != nil {
		w.client.Put(kind, key, value)
	}
}

// recall returns what an earlier run with the same key printed, or nil.
func (w *warm) recall(key cache.Key) *kept {
	if w == nil {
		return nil
	}
	value, ok := w.get(cache.Run, key)
	if !ok {
		return nil
	}
	k := new(kept)
	if decoding.Unmarshal(value, k) != nil || !k.sound() {
		return nil
	}
	return k
}

// reuse returns what Check may use.
func (w *warm) reuse(list *load.List) load.Reuse {
	if w == nil {
		return load.Reuse{}
	}
	tool, ok := toolHash()
	if !ok {
		return load.Reuse{}
	}
	if w.source == nil {
		w.source = map[string]bool{}
		w.last = map[string]*hint{}
		r := cache.NewRecipe("needs")
		r.Key(tool)
		if wd, err := os.Getwd(); err == nil {
			r.String(wd)
		}
		r.Strings([]string{w.s.c.dir, w.s.c.tags})
		w.hints = r.Sum()
		if b, ok := w.get(cache.Hint, w.hints); ok {
			if list, err := image.Decode[[]hint](b); err == nil {
				for i, h := range *list {
					w.last[h.ID] = &(*list)[i]
				}
			}
		}
	}
	r := cache.NewRecipe("facts")
	r.Key(tool)
	return load.Reuse{Keeper: w, Base: r}
}

// Known is a method of load.Keeper.
func (w *warm) Known(key cache.Key) *load.Known {
	b, ok := w.get(cache.Facts, key)
	if !ok || w.ignore {
		return nil
	}
	k, err := image.Decode[load.Known](b)
	if err != nil {
		return nil
	}
	return k
}

// Export is a method of load.Keeper.
func (w *warm) Export(key cache.Key) []byte {
	b, _ := w.get(cache.Export, key)
	return b
}

// Source is a method of load.Keeper. It takes it that packages which changed, and all
// that import them, need what they needed in the last run.
func (w *warm) Source(all []load.Unit) []string {
	touched := map[string]bool{}
	for _, u := range all {
		h := w.last[u.ID]
		touched[u.ID] = h == nil || h.Own != u.Own || slices.ContainsFunc(u.Imports, func(id string) bool { return touched[id] })
		if h == nil {
			h = &hint{ID: u.ID}
			w.last[u.ID] = h
		}
		h.Own = u.Own
		if touched[u.ID] {
			w.fresh = true
			for _, q := range h.Needs {
				w.source[q] = true
			}
		}
	}
	return slices.Collect(maps.Keys(w.source))
}

// needs reports whether err asks for packages from source, and sees to it that they
// are in the next Reuse; in the end that nothing is.
func (w *warm) needs(err error) bool {
	var need *extract.NeedSourceError
	var lost *load.LostError
	var ids []string
	switch {
	case w == nil:
		return false
	case errors.As(err, &need):
		ids = need.IDs
	case errors.As(err, &lost):
		ids = lost.IDs
	default:
		return false
	}
	more := false
	for _, id := range ids {
		more = more || !w.source[id]
		w.source[id] = true
	}
	if !more && !w.ignore { // they are there from source: so what is known is odd
		w.ignore, more = true, true
	}
	return more
}

// keeping returns what keeps the facts of fresh packages.
func (w *warm) keeping(res *load.Result) func(*load.Fresh, []byte) {
	if w == nil || res.Changed {
		return nil
	}
	return func(f *load.Fresh, facts []byte) {
		export, err := f.Export()
		if err != nil {
			return
		}
		known := f.Known
		known.Facts = facts
		w.last[f.ID].Needs = extract.Needs(facts)
		w.put(cache.Export, f.Key, export)
		w.put(cache.Facts, f.Key, image.Encode(&known))
	}
}

// keepNeeds keeps what packages needed, for the next run.
func (w *warm) keepNeeds() {
	if w == nil || !w.fresh {
		return
	}
	var list []hint
	for _, id := range slices.Sorted(maps.Keys(w.last)) {
		list = append(list, *w.last[id])
	}
	w.put(cache.Hint, w.hints, image.Encode(&list))
}
