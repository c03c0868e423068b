package check

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// Asked is what the rules of escape, starts and locks ask of claims. Check asks
// whether they hold; who makes claims may change them until they do.
type Asked struct {
	// Escapes: the object escapes.
	Escapes func(rule string, o ObjID)
	// Starts: the claim has all that the other set has.
	Starts func(rule string, claim *Bits, all Bits)
	// Holds: the claim has no more than the state.
	Holds func(rule string, claim *State, most State)
	// Has: the claim has all these numbers, which ascend.
	Has func(rule string, claim *[]uint32, all []uint32)
}

// Rules calls ask with what the rules ask of claims whose points-to sets and call
// graph are closed. They give the other claims their sizes first.
func Rules(p *facts.Program, c *Claims, ask *Asked) (again func()) {
	k := newChecker(p, c)
	k.run(k.shape)
	if k.rep.Failed != nil || len(k.rep.Refused) > 0 {
		return func() {}
	}
	k.control()
	c.Escaped = NewBits(len(c.Objects))
	for i := 1; i < len(c.Insts); i++ {
		in, n := &c.Insts[i], len(k.fn(InstID(i)).Blocks)
		in.Starts, in.Before = NewBits(len(k.threads)), NewBits(len(k.threads))
		in.Held, in.Own, in.Acquires, in.Releases = make([]State, n), make([]State, n), State{All: true}, nil
		in.Prints = make([]Print, len(k.printRows(InstID(i))))
		for b := range in.Held {
			in.Held[b].All, in.Own[b].All = true, true
		}
	}
	return func() {
		k.visited(ask)
		k.escape(ask)
		k.starts(ask)
		k.locks(ask)
	}
}

// closed checks that the claims are as the rules of escape, starts and locks ask.
func (k *checker) closed() {
	none := facts.Pos{}
	ask := &Asked{
		Escapes: func(rule string, o ObjID) {
			if !k.c.Escaped.Has(int(o)) {
				k.fail(rule, none, "object %d escapes", o)
			}
		},
		Starts: func(rule string, claim *Bits, all Bits) {
			if !all.Within(*claim) {
				k.fail(rule, none, "an instance may have started more than is claimed")
			}
		},
		Holds: func(rule string, claim *State, most State) {
			if !claim.Within(most) {
				k.fail(rule, none, "a lock is claimed to be held that is not held on every way")
			}
		},
		Has: func(rule string, claim *[]uint32, all []uint32) {
			for _, c := range all {
				if _, ok := slices.BinarySearch(*claim, c); !ok {
					k.fail(rule, none, "an instance may release, or print, more than is claimed")
				}
			}
		},
	}
	k.visited(ask)
	k.printing()
	k.escape(ask)
	k.starts(ask)
	k.locks(ask)
}
