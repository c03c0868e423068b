package check

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// Asked is what the rules of printing, escape, what may be done, and facts ask of
// claims. Check asks whether they hold; who makes claims may change them until they
// do.
type Asked struct {
	// Escapes: the object escapes.
	Escapes func(rule string, o ObjID)
	// Does: the claim has all that the other set has.
	Does func(rule string, claim *Bits, all Bits)
	// Holds: the claim, of an instance, has no more than the state.
	Holds func(rule string, of InstID, claim *State, most State)
	// Has: the claim, of an instance, has all these numbers, which ascend.
	Has func(rule string, of InstID, claim *[]uint32, all []uint32)
}

// closed checks that the claims are as the rules of escape, what may be done, and facts ask.
func (k *checker) closed() {
	none := facts.Pos{}
	ask := &Asked{
		Escapes: func(rule string, o ObjID) {
			if !k.c.Escaped.Has(int(o)) {
				k.fail(rule, none, "object %d escapes", o)
			}
		},
		Does: func(rule string, claim *Bits, all Bits) {
			if !all.Within(*claim) {
				k.fail(rule, none, "an instance may have done more than is claimed")
			}
		},
		Holds: func(rule string, _ InstID, claim *State, most State) {
			if !claim.Within(most) {
				k.fail(rule, none, "a fact is claimed that does not hold on every way")
			}
		},
		Has: func(rule string, _ InstID, claim *[]uint32, all []uint32) {
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
	k.does(ask)
	k.credits()
	for i := 1; i < len(k.c.Insts); i++ {
		k.musts(InstID(i), ask)
	}
}
