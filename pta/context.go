package pta

import (
	"encoding/binary"
	"fmt"

	"github.com/bfverify/bfverify/facts"
)

// CtxID is an interned calling or heap context: a sequence of elements, newest
// first. 0 is the empty context. After solving, contexts are opaque labels.
type CtxID uint32

// An element is a call site or an allocation site of the whole program, a
// global, or a function used as an object, numbered in one space.
type element uint32

// contexts interns sequences of elements.
type contexts struct {
	ids  map[string]CtxID
	seqs [][]element
	// inlined is the length of the prefix made by functions that have one copy
	// per call site under every policy.
	inlined []uint8
	buf     []byte
}

func newContexts() *contexts {
	c := &contexts{ids: map[string]CtxID{}}
	c.intern(nil, 0)
	return c
}

func (c *contexts) intern(seq []element, inlined int) CtxID {
	c.buf = append(c.buf[:0], byte(inlined))
	for _, e := range seq {
		c.buf = binary.LittleEndian.AppendUint32(c.buf, uint32(e))
	}
	if id, ok := c.ids[string(c.buf)]; ok {
		return id
	}
	id := CtxID(len(c.seqs))
	c.ids[string(c.buf)] = id
	c.seqs = append(c.seqs, append([]element(nil), seq...))
	c.inlined = append(c.inlined, uint8(inlined))
	return id
}

// key returns a context's elements as text.
func (c *contexts) key(ctx CtxID) string { return fmt.Sprint(c.seqs[ctx]) }

// push returns the context e + ctx cut to length max.
func (c *contexts) push(e element, ctx CtxID, max int) CtxID {
	if max <= 0 {
		return 0
	}
	seq := c.seqs[ctx]
	if len(seq) > max-1 {
		seq = seq[:max-1]
	}
	return c.intern(append([]element{e}, seq...), 0)
}

// maxInline bounds the depth of nested inlined calls; models are shallow.
const maxInline = 6

// inline returns the context of a copy made for call site e in ctx.
func (c *contexts) inline(e element, ctx CtxID) CtxID {
	seq := c.seqs[ctx]
	n := int(c.inlined[ctx])
	if n >= maxInline {
		n = maxInline - 1
	}
	if len(seq) >= maxInline {
		seq = seq[:maxInline-1]
	}
	return c.intern(append([]element{e}, seq...), min(n+1, maxInline))
}

// site returns the call site that a function's copy was made for, or 0.
func (c *contexts) site(ctx CtxID) element {
	if c.inlined[ctx] == 0 || c.full(ctx) {
		return 0
	}
	return c.seqs[ctx][0]
}

// full reports whether ctx may stand for several call sites of inlined calls.
func (c *contexts) full(ctx CtxID) bool { return len(c.seqs[ctx]) >= maxInline }

// heap returns the heap context of an object allocated in ctx.
func (c *contexts) heap(ctx CtxID, hk int) CtxID {
	seq := c.seqs[ctx]
	n := max(hk, int(c.inlined[ctx]))
	if len(seq) <= n {
		return ctx
	}
	return c.intern(seq[:n], min(n, int(c.inlined[ctx])))
}

// Policy names a context policy.
type Policy string

// The policies; see the package comment.
const (
	Insens Policy = "insens"
	Obj    Policy = "obj"
	Hybrid Policy = "hybrid"
)

// calleeCtx returns the context in which fn is analysed when called from site
// in caller context ctx. recv is the receiver object of a method, the closure
// object of a closure, or noObj.
func (s *solver) calleeCtx(fn *facts.Func, site element, ctx CtxID, recv ObjID) CtxID {
	if fn.Is(facts.FnInline) {
		return s.ctxs.inline(site, ctx)
	}
	if fn.Is(facts.FnUnknown) && len(fn.Anys) > 0 {
		return 0 // what one call was handed, another may store: (R4)
	}
	if recv != noObj && fn.Is(facts.FnClosure|facts.FnModel) {
		if c := s.objs[recv].Ctx; s.ctxs.inlined[c] > 0 {
			return c // a literal of a model that is copied is copied with it
		}
	}
	pol := &s.policy[fn.ID]
	if pol.Policy == Insens {
		return 0
	}
	if recv != noObj && (fn.Is(facts.FnMethod) || fn.Is(facts.FnClosure)) {
		o := &s.objs[recv]
		return s.ctxs.push(o.elem, o.Ctx, 1+pol.HK+int(s.ctxs.inlined[o.Ctx]))
	}
	if fn.Is(facts.FnWrapper) {
		return ctx
	}
	if pol.Policy == Obj {
		return 0
	}
	return s.ctxs.push(site, ctx, pol.K)
}

// byReceiver reports whether calleeCtx of fn depends on the receiver.
func (s *solver) byReceiver(fn *facts.Func) bool {
	if fn.Is(facts.FnInline) {
		return false
	}
	return fn.Is(facts.FnClosure|facts.FnModel) || s.policy[fn.ID].Policy != Insens && fn.Is(facts.FnMethod)
}
