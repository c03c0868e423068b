package pta

import "github.com/bfverify/bfverify/facts"

// (W) What reflection is asked of more than maxReflected values at one place is
// not told apart by place: the parts of such Values (package reflect's model
// keeps them in handles) are one node in all of the program. Programs decode,
// encode, copy and compare by reflection; where that meets many types, what it
// derives from them goes round through all the code that does such things, and
// every one of its variables comes to hold nearly the same, at great cost.

// maxReflected is the number of values that a reflect.Value may stand for before
// it is widened: far more than code that reflects on types of its own meets.
const maxReflected = 256

// widen lets handles that hold too many values become one.
func (s *solver) widen() {
	for _, n := range s.handles {
		n = s.find(n)
		if n == s.find(s.anyValue) || s.pts[n] == nil || s.pts[n].Len() <= maxReflected {
			continue
		}
		if s.anyValue == 0 {
			s.anyValue = n
			continue
		}
		s.unites = append(s.unites, [2]uint32{s.anyValue, n})
	}
}

// isHandle reports whether t is the type of what the pointer in a reflect.Value
// points to.
func (s *solver) isHandle(t facts.TypeID) bool { return t != 0 && t == s.handleType }
