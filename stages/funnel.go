package stages

import (
	"math/bits"
	"strings"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/stages/stage"
)

// funnel counts what each stage leaves (POPL'07 figures 11 to 13). Stages decide
// for one abstract location at a time, and so are pairs counted: a pair is two
// accesses in the source that conflict at a location, whatever their contexts,
// and counts at each location where they do; a tuple is a pair with a goroutine
// and a context for each access. For original and reachable, which know types
// only, all accesses to a location's type meet there.
type funnel struct {
	r             *run
	tuples, pairs [len(Pipeline)]int64
	byType        map[facts.TypeID]*[2]level // of original, and of reachable
	deep          [2]level                   // of accesses to any type
	seen          stamps
	rows          []stage.Bits // of the cell at hand, see left
	ids           [][]uint32   // what rows hold
	depth         []stage.Bits
	local         []uint32
}

// level counts accesses: sources, and sources with context and goroutine.
type level struct{ pairs, tuples conflict }

// conflict counts accesses by what they conflict with.
type conflict struct{ reads, writes, atomicReads, atomicWrites int64 }

func (c *conflict) add(write, atomic bool, n int64) {
	switch {
	case write && atomic:
		c.atomicWrites += n
	case write:
		c.writes += n
	case atomic:
		c.atomicReads += n
	default:
		c.reads += n
	}
}

// count returns the number of unordered pairs, of which one writes and not both
// are atomic; a write conflicts with itself, by another goroutine.
func (c conflict) count() int64 {
	return c.writes*(c.writes+1)/2 + c.writes*(c.reads+c.atomicReads+c.atomicWrites) + c.atomicWrites*c.reads
}

func (c conflict) plus(d conflict) conflict {
	return conflict{c.reads + d.reads, c.writes + d.writes, c.atomicReads + d.atomicReads, c.atomicWrites + d.atomicWrites}
}

// max returns the larger number of each: memory that is viewed at other types
// than its own has accesses that its type does not tell.
func (c conflict) max(d conflict) conflict {
	return conflict{max(c.reads, d.reads), max(c.writes, d.writes), max(c.atomicReads, d.atomicReads), max(c.atomicWrites, d.atomicWrites)}
}

// stamps tells which numbers were seen since the last call of next.
type stamps struct {
	at  []uint32
	now uint32
}

func (s *stamps) next() { s.now++ }

func (s *stamps) first(i uint32) bool {
	if s.at[i] == s.now {
		return false
	}
	s.at[i] = s.now
	return true
}

// census is what the counts by type of all views of a program share: the
// accesses of functions that have instances, and the counts of all others.
type census struct {
	funcs  []censusFunc
	byType map[facts.TypeID]level // by functions without instance
	deep   level
}

type censusFunc struct {
	id       facts.FuncID
	accesses []censusAccess
}

// censusAccess is an access by the types of the cells that it touches; deep
// accesses touch any.
type censusAccess struct {
	write, atomic, deep bool
	types               []facts.TypeID
}

// newCensus counts the accesses of a program.
func newCensus(w *stage.World) *census {
	c := &census{byType: map[facts.TypeID]level{}}
	types := map[facts.TypeID][]facts.TypeID{} // the types of a type's cells, each once
	cellTypes := func(t facts.TypeID) []facts.TypeID {
		out, ok := types[t]
		if !ok {
			once := map[facts.TypeID]bool{}
			for _, c := range w.Prog.Layout(t).Cells {
				if !once[c.Type] {
					once[c.Type] = true
					out = append(out, c.Type)
				}
			}
			types[t] = out
		}
		return out
	}
	pkgs := map[string]bool{}
	for _, id := range w.Prog.PkgIDs {
		path, _, _ := strings.Cut(id, " ")
		pkgs[path] = true
	}
	for _, fn := range w.Prog.Funcs {
		if fn == nil {
			continue
		}
		live := len(w.InstsOf[fn.ID]) > 0
		if !live && !pkgs[fn.Pkg] {
			continue // of another program
		}
		var list []censusAccess
		for _, pt := range fn.Points {
			var a censusAccess
			switch pt.Op {
			case facts.OpMem:
				m := &fn.Mems[pt.Row]
				if m.Mode == facts.Flow {
					continue
				}
				a = censusAccess{m.Write, m.Mode == facts.Atomic, false, cellTypes(m.Type)}
			case facts.OpDeep:
				a = censusAccess{fn.Deeps[pt.Row].Write, false, true, nil}
			default:
				continue
			}
			if live {
				list = append(list, a)
				continue
			}
			if a.deep {
				c.deep.add(a, 1)
			}
			for _, t := range a.types {
				l := c.byType[t]
				l.add(a, 1)
				c.byType[t] = l
			}
		}
		if len(list) > 0 {
			c.funcs = append(c.funcs, censusFunc{fn.ID, list})
		}
	}
	return c
}

// add counts an access in the source and its tuples.
func (l *level) add(a censusAccess, tuples int64) {
	l.pairs.add(a.write, a.atomic, 1)
	l.tuples.add(a.write, a.atomic, tuples)
}

func newFunnel(r *run, c *census) *funnel {
	f := &funnel{r: r, byType: make(map[facts.TypeID]*[2]level, len(c.byType))}
	f.seen.at = make([]uint32, r.w.Sources)
	f.local = make([]uint32, r.w.Sources)
	f.deep[0] = c.deep
	for t, l := range c.byType {
		f.byType[t] = &[2]level{l}
	}
	for i := range c.funcs {
		fn := &c.funcs[i]
		threads := int64(0)
		for _, n := range r.w.InstsOf[fn.id] {
			threads += int64(len(r.v.ThreadsOf(n)))
		}
		for _, a := range fn.accesses {
			add := func(l *[2]level) {
				l[0].add(a, max(threads, 1))
				if threads > 0 {
					l[1].add(a, threads)
				}
			}
			if a.deep {
				add(&f.deep)
			}
			for _, t := range a.types {
				if f.byType[t] == nil {
					f.byType[t] = &[2]level{}
				}
				add(f.byType[t])
			}
		}
	}
	return f
}

// cell counts the pairs of a cell down to escaping, and returns how many of them
// escaping leaves.
func (f *funnel) cell(cell uint32, escapes bool) level {
	r := f.r
	var here level
	f.seen.next()
	for _, id := range r.w.At(cell) {
		a := &r.w.Accesses[id]
		k := int64(len(r.v.ThreadsOf(a.Inst)))
		if k == 0 {
			continue
		}
		here.tuples.add(a.Write, a.Atomic, k)
		if f.seen.first(a.Source) {
			here.pairs.add(a.Write, a.Atomic, 1)
		}
	}
	o, off := r.v.Res.Object(cell)
	var types [2]level
	if t := f.byType[r.v.Res.Cell(o, off).Type]; t != nil {
		types = *t
	}
	for k := range types {
		f.tuples[k] += types[k].tuples.plus(f.deep[k].tuples).max(here.tuples).count()
		f.pairs[k] += types[k].pairs.plus(f.deep[k].pairs).max(here.pairs).count()
	}
	for k := rowAliasing; k <= rowEscaping; k++ {
		if k == rowAliasing || escapes {
			f.tuples[k] += here.tuples.count()
			f.pairs[k] += here.pairs.count()
		}
	}
	return here
}

// rest counts pairs that no stage after escaping looks at.
func (f *funnel) rest(n level) {
	for k := rowParallel; k < len(Pipeline); k++ {
		f.tuples[k] += n.tuples.count()
		f.pairs[k] += n.pairs.count()
	}
}

// classes prepares for left with the classes of one cell.
func (f *funnel) classes(cs []*stage.Class) {
	f.seen.next()
	n := uint32(0)
	for _, c := range cs {
		for _, m := range c.Members {
			if s := f.r.w.Accesses[m.Access].Source; f.seen.first(s) {
				f.local[s] = n
				n++
			}
		}
	}
	f.rows = make([]stage.Bits, len(cs))
	f.ids = make([][]uint32, len(cs))
	for i, c := range cs {
		f.rows[i] = stage.NewBits(int(n))
		for _, m := range c.Members {
			if s := f.local[f.r.w.Accesses[m.Access].Source]; f.rows[i].Add(int(s)) {
				f.ids[i] = append(f.ids[i], s)
			}
		}
	}
	f.depth = make([]stage.Bits, levels*int(n))
}

// levels are how deep pairs may get: down to each stage, and last those that
// all stages left and that are in scope.
const levels = len(Pipeline) + 1

// left records that the pairs of classes i and j are left by the stages before
// the given one, and by no other.
func (f *funnel) left(i, j int, tuples int64, stages int, inScope bool) {
	for k := rowParallel; k < stages; k++ {
		f.tuples[k] += tuples
	}
	if stages <= rowParallel {
		return
	}
	if inScope {
		stages++
	}
	n := len(f.depth) / levels
	for _, x := range [2][2]int{{i, j}, {j, i}} {
		for _, s := range f.ids[x[0]] {
			row := &f.depth[(stages-1)*n+int(s)]
			if *row == nil {
				*row = stage.NewBits(n)
			}
			row.Or(f.rows[x[1]])
		}
	}
}

// done counts the pairs that left recorded, each once, and returns how many are
// open that are not in scope.
func (f *funnel) done() (outOfScope int64) {
	n := len(f.depth) / levels
	for s := range n {
		var deeper stage.Bits
		for k := levels - 1; k >= rowParallel; k-- {
			row := f.depth[k*n+s]
			if deeper == nil {
				deeper = row
			} else if row != nil {
				deeper.Or(row)
			}
			for w, b := range deeper { // of each unordered pair, the half with s first
				switch {
				case w == s/64:
					b &= ^uint64(0) << (s % 64)
				case w < s/64:
					b = 0
				}
				pairs := int64(bits.OnesCount64(b))
				switch k {
				case len(Pipeline):
					outOfScope -= pairs
					continue
				case len(Pipeline) - 1:
					outOfScope += pairs
				}
				f.pairs[k] += pairs
			}
		}
	}
	return outOfScope
}

// counts are a stage's pairs and tuples.
type counts struct{ pairs, tuples int64 }

// after returns the counts of the stages after escaping.
func (f *funnel) after() []counts {
	out := make([]counts, len(Pipeline))
	for k := rowParallel; k < len(Pipeline); k++ {
		out[k] = counts{f.pairs[k], f.tuples[k]}
	}
	return out
}

// repeat adds counts.
func (f *funnel) repeat(cs []counts) {
	for k, c := range cs {
		f.pairs[k] += c.pairs
		f.tuples[k] += c.tuples
	}
}
