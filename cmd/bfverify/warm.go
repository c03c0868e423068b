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
// A package is known by what it is made of and what it imports is made of. Those that
// changed, or whose dependencies did, are loaded from source, and besides them those
// whose generic functions they have instances of. Which these are is known for sure
// only when facts are extracted; so it is guessed from what the packages needed in the
// last run, and if that was not all the packages are loaded again.
type warm struct {
	s      *session
	mu     sync.Mutex // of client
	client *cache.Client
	hints  cache.Key           // of the map of needs
	last   map[string][]string // package id -> Facts.Needs in the last run
	fresh  bool                // last is new in part
	source map[string]bool     // what else is needed from source
}

// hint is an element of last as it is kept.
type hint struct {
	ID    string
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
	if w != nil && w.client != nil {
		if w.fresh {
			w.keepNeeds()
		}
		w.s.closeCache(w.client)
		w.client = nil
	}
}

// recall returns what an earlier run with the same key printed, or nil.
func (w *warm) recall(key cache.Key) *kept {
	if w == nil {
		return nil
	}
	value, ok := w.client.Get(cache.Run, key)
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
		w.last = map[string][]string{}
		r := cache.NewRecipe("needs")
		r.Key(tool)
		if wd, err := os.Getwd(); err == nil {
			r.String(wd)
		}
		r.Strings([]string{w.s.c.dir, w.s.c.tags})
		w.hints = r.Sum()
		if b, ok := w.client.Get(cache.Facts, w.hints); ok {
			if list, err := image.Decode[[]hint](b); err == nil {
				for _, h := range *list {
					w.last[h.ID] = h.Needs
				}
			}
		}
	}
	r := cache.NewRecipe("facts")
	r.Key(tool)
	return load.Reuse{Keeper: w, Base: r}
}

// exported is the key of the export data that goes with facts.
func exported(key cache.Key) cache.Key {
	r := cache.NewRecipe("export")
	r.Key(key)
	return r.Sum()
}

// Known is a method of load.Keeper.
func (w *warm) Known(key cache.Key) *load.Known {
	w.mu.Lock()
	b, ok := w.client.Get(cache.Facts, key)
	w.mu.Unlock()
	if !ok {
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
	w.mu.Lock()
	defer w.mu.Unlock()
	b, _ := w.client.Get(cache.Facts, exported(key))
	return b
}

// Source is a method of load.Keeper.
func (w *warm) Source(unknown []string) []string {
	for _, id := range unknown {
		for _, q := range w.last[id] {
			w.source[q] = true
		}
	}
	return slices.Collect(maps.Keys(w.source))
}

// needs reports whether err asks for packages from source, and sees to it that they
// are in the next Reuse.
func (w *warm) needs(err error) bool {
	var need *extract.NeedSourceError
	if w == nil || !errors.As(err, &need) {
		return false
	}
	more := false
	for _, id := range need.IDs {
		more = more || !w.source[id]
		w.source[id] = true
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
		w.last[f.ID], w.fresh = extract.Needs(facts), true
		w.mu.Lock()
		defer w.mu.Unlock()
		w.client.Put(cache.Facts, exported(f.Key), export)
		w.client.Put(cache.Facts, f.Key, image.Encode(&known))
	}
}

// keepNeeds keeps what packages needed, for the next run.
func (w *warm) keepNeeds() {
	var list []hint
	for _, id := range slices.Sorted(maps.Keys(w.last)) {
		list = append(list, hint{id, w.last[id]})
	}
	w.client.Put(cache.Facts, w.hints, image.Encode(&list))
}
