package progen

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"slices"
)

// key is a hash of a canonical state, wide enough to take for the state.
type key [2]uint64

// canon brings s to a form that depends neither on the order in which threads
// and objects were made nor on the past that can no longer matter, and returns
// its key.
//
//	(C1) Dead threads go; the others stand in the order of their paths.
//	(C2) Objects that no thread can reach go; the others stand in the order
//	     of a walk from the globals and the threads.
//	(C3) A record stays only if its object does, and some thread that does
//	     not know it may still perform an access that conflicts with it and
//	     whose pair with it is news. A thread that knows it passes that on
//	     to those that it spawns.
//	(C4) A record that meets less than another of the same access does, goes.
//	(C5) A clock that knows no record is no clock.
func (e *explorer) canon(s *state) key {
	// (C1)
	order := e.order[:0]
	for t := range s.threads {
		if !s.threads[t].dead {
			order = append(order, t)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.threads[a].path, s.threads[b].path) })
	e.order = order
	var place [firstClock]int // new number of a thread, or -1
	for t := range place {
		place[t] = -1
	}
	same := len(order) == len(s.threads)
	for i, t := range order {
		place[t] = i
		same = same && i == t
	}
	if !same {
		threads := make([]thread, len(order), len(order)+1)
		for i, t := range order {
			threads[i] = s.threads[t]
		}
		s.threads = threads
	}

	// (C2)
	newID := e.newID[:0]
	for range s.objs {
		newID = append(newID, -1)
	}
	e.newID = newID
	queue := e.queue[:0]
	reach := func(v value) {
		var o int
		switch v.tag() {
		case tagRef:
			o, _ = v.place()
		case tagClosure:
			o = v.num()
		default:
			return
		}
		if newID[o] < 0 {
			newID[o] = int32(len(queue))
			queue = append(queue, int32(o))
		}
	}
	for g := range e.m.globals {
		newID[g] = int32(g)
		queue = append(queue, int32(g))
	}
	at := 0
	drain := func() {
		for ; at < len(queue); at++ {
			for _, v := range s.objs[queue[at]].cells {
				reach(v)
			}
		}
	}
	drain()
	for t := range s.threads {
		for i := range s.threads[t].frames {
			f := &s.threads[t].frames[i]
			reach(f.ret)
			for _, v := range f.vals {
				reach(v)
			}
			for _, d := range f.defers {
				for _, v := range d {
					reach(v)
				}
			}
		}
		drain()
	}
	e.queue = queue

	// (C3)
	for i, t := range order {
		e.future[t] = e.ahead(s, i)
	}
	recs := s.recs[:0]
	var used bits
	for _, r := range s.recs {
		if newID[r.obj] < 0 {
			continue
		}
		news := e.plain
		for _, t := range order {
			if !r.known.has(t) && e.future[t].meets(e.left[r.acc]) {
				news = true
				break
			}
		}
		if !news {
			continue
		}
		r.obj = newID[r.obj]
		used[0] |= r.known[0]
		used[1] |= r.known[1]
		recs = append(recs, r)
	}

	// Renumber values; (C5) number the clocks that are left in that order.
	var clock [maxCarrier]int
	clocks := 0
	change := func(v value) value {
		switch v.tag() {
		case tagRef:
			o, c := v.place()
			return ref(int(newID[o]), c)
		case tagClosure:
			return tagged(tagClosure, int(newID[v.num()]))
		case tagThread:
			if t := place[v.num()]; t >= 0 {
				return tagged(tagThread, t)
			}
			return deadHolder
		case tagClock:
			n := v.num()
			if !used.has(n) {
				return 0
			}
			if clock[n] == 0 {
				clock[n] = firstClock + clocks
				clocks++
			}
			return tagged(tagClock, clock[n])
		}
		return v
	}
	objs := make([]object, len(queue), len(queue)+4)
	for i, o := range queue {
		objs[i] = s.objs[o]
		for j, v := range objs[i].cells {
			if v.tag() == tagScalar || v.tag() == tagFunc {
				continue
			}
			if w := change(v); w != v {
				if !objs[i].owned {
					objs[i] = object{slices.Clone(objs[i].cells), true}
				}
				objs[i].cells[j] = w
			}
		}
	}
	s.objs = objs
	changeAll := func(vs []value) bool {
		for _, v := range vs {
			if v.tag() != tagScalar && change(v) != v {
				return true
			}
		}
		return false
	}
	for t := range s.threads {
		dirty := false
		for i := range s.threads[t].frames {
			f := &s.threads[t].frames[i]
			dirty = dirty || changeAll(f.vals) || change(f.ret) != f.ret
			for _, d := range f.defers {
				dirty = dirty || changeAll(d)
			}
		}
		if !dirty {
			continue
		}
		th := s.thaw(t)
		for i := range th.frames {
			f := &th.frames[i]
			f.ret = change(f.ret)
			for j, v := range f.vals {
				f.vals[j] = change(v)
			}
			for j, d := range f.defers {
				d = slices.Clone(d)
				for k, v := range d {
					d[k] = change(v)
				}
				f.defers[j] = d
			}
		}
	}
	s.clocks = clocks
	for i := range recs {
		var k bits
		for w := range recs[i].known {
			for b := recs[i].known[w]; b != 0; b &= b - 1 {
				n := w*64 + trailing(b)
				switch {
				case n >= firstClock:
					if clock[n] > 0 {
						k.add(clock[n])
					}
				case place[n] >= 0:
					k.add(place[n])
				}
			}
		}
		recs[i].known = k
	}
	s.recs = prune(recs)
	return e.hash(s)
}

// prune sorts records and applies (C4).
func prune(recs []rec) []rec {
	slices.SortFunc(recs, func(a, b rec) int {
		if a.obj != b.obj {
			return cmp.Compare(a.obj, b.obj)
		}
		if a.cell != b.cell {
			return cmp.Compare(a.cell, b.cell)
		}
		if a.acc != b.acc {
			return cmp.Compare(a.acc, b.acc)
		}
		if a.known[0] != b.known[0] {
			return cmp.Compare(a.known[0], b.known[0])
		}
		return cmp.Compare(a.known[1], b.known[1])
	})
	out := recs[:0]
	for i := 0; i < len(recs); {
		j := i + 1
		for j < len(recs) && recs[j].obj == recs[i].obj && recs[j].cell == recs[i].cell && recs[j].acc == recs[i].acc {
			j++
		}
		group := recs[i:j]
		i = j
		n := len(group)
		for k := range n {
			covered := false
			for l := range n {
				if k != l && group[l].known.subset(&group[k].known) && (group[l].known != group[k].known || l < k) {
					covered = true
					break
				}
			}
			if !covered {
				out = append(out, group[k])
			}
		}
	}
	return out
}

// hash returns the key of a canonical state.
func (e *explorer) hash(s *state) key {
	b := e.buf[:0]
	u32 := func(n uint32) { b = binary.LittleEndian.AppendUint32(b, n) }
	for _, o := range s.objs {
		u32(uint32(len(o.cells)))
		for _, v := range o.cells {
			u32(uint32(v))
		}
	}
	for t := range s.threads {
		u32(uint32(len(s.threads[t].frames)) | 1<<31)
		for i := range s.threads[t].frames {
			f := &s.threads[t].frames[i]
			u32(uint32(f.code)<<16 | uint32(f.pc))
			u32(uint32(len(f.vals))<<16 | uint32(len(f.defers))<<8 | uint32(f.mode))
			if f.mode != running {
				u32(uint32(f.ret))
			}
			for _, v := range f.vals {
				u32(uint32(v))
			}
			for _, d := range f.defers {
				u32(uint32(len(d)))
				for _, v := range d {
					u32(uint32(v))
				}
			}
		}
	}
	for _, r := range s.recs {
		u32(uint32(r.obj)<<16 | uint32(r.cell))
		u32(uint32(r.acc))
		b = binary.LittleEndian.AppendUint64(b, r.known[0])
		b = binary.LittleEndian.AppendUint64(b, r.known[1])
	}
	e.buf = b
	return key{maphash.Bytes(e.seeds[0], b), maphash.Bytes(e.seeds[1], b)}
}
