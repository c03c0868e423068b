package while

import "math/rand/v2"

// Object is an object of Figure 4, ⟨π, h⟩: its site and the loop vector of its
// allocation, four bytes a loop.
type Object struct {
	Pi string
	H  int
}

// Count returns the count of loop w when the object was made; 0 outside it.
func (o Object) Count(w int) int {
	b := o.Pi[4*w:]
	return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 | int(b[3])<<24
}

// Edge is one concrete effect, O1 ▷ O2, with the field that was written.
type Edge struct {
	O1, O2 Object
	F      int
}

// Run executes a program (Figure 5) with random choices for (*), and returns its
// heap effect C in the order in which it arises. A loop goes round less than four
// times on average; a field of null, for which there is no rule, ends the run:
// what was done before is an execution of the paper's too, of a program that
// branched away.
func (p *Program) Run(rng *rand.Rand) []Edge {
	m := &machine{p: p, rng: rng, env: make([]*Object, p.Vars), heap: map[fieldOf]*Object{}, pi: make([]int, p.Loops), seen: map[Edge]bool{}, fuel: 400}
	m.exec(p.Body, make([]bool, p.Loops))
	return m.c
}

type fieldOf struct {
	o Object
	f int
}

type machine struct {
	p    *Program
	rng  *rand.Rand
	env  []*Object
	heap map[fieldOf]*Object
	pi   []int
	seen map[Edge]bool
	c    []Edge
	fuel int
}

// exec executes s inside the loops of W; false ends the run.
func (m *machine) exec(s Stmt, W []bool) bool {
	m.fuel--
	if m.fuel < 0 {
		return false
	}
	switch s := s.(type) {
	case Null: // (1)
		m.env[s.X] = nil
	case New: // (2)
		pi := make([]byte, 0, 4*len(m.pi))
		for w, n := range m.pi {
			if !W[w] {
				n = 0
			}
			pi = append(pi, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
		}
		m.env[s.X] = &Object{string(pi), s.H}
	case Copy: // (3)
		m.env[s.X] = m.env[s.Y]
	case Load: // (4)
		o := m.env[s.Y]
		if o == nil {
			return false
		}
		m.env[s.X] = m.heap[fieldOf{*o, s.F}]
	case Store: // (5)
		o1, o2 := m.env[s.X], m.env[s.Y]
		if o1 == nil {
			return false
		}
		m.heap[fieldOf{*o1, s.F}] = o2
		if o2 != nil {
			e := Edge{*o1, *o2, s.F}
			if !m.seen[e] {
				m.seen[e] = true
				m.c = append(m.c, e)
			}
		}
	case Seq: // (8)
		for _, t := range s {
			if !m.exec(t, W) {
				return false
			}
		}
	case If: // (6), (7)
		if m.rng.IntN(2) == 0 {
			return m.exec(s.Then, W)
		}
		return m.exec(s.Else, W)
	case While: // (9), (10)
		for m.rng.IntN(4) > 0 {
			m.pi[s.W]++
			W[s.W] = true
			ok := m.exec(s.Body, W)
			W[s.W] = false
			if !ok {
				return false
			}
		}
	}
	return true
}

// Reach returns C⁺ (Definition 4.1): for each object that something reaches, who
// reaches it by one or more effects.
func Reach(c []Edge) map[Object]map[Object]bool {
	into := map[Object][]Object{}
	for _, e := range c {
		into[e.O2] = append(into[e.O2], e.O1)
	}
	out := map[Object]map[Object]bool{}
	for o := range into {
		from := map[Object]bool{}
		todo := []Object{o}
		for len(todo) > 0 {
			x := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for _, y := range into[x] {
				if !from[y] {
					from[y] = true
					todo = append(todo, y)
				}
			}
		}
		out[o] = from
	}
	return out
}

// DisjointC reports h ∈ DR_C(H), of the first equation of Figure 9, for the
// C⁺ that Reach gave.
func DisjointC(reach map[Object]map[Object]bool, H map[int]bool, h int) bool {
	for o, from := range reach {
		if o.H != h {
			continue
		}
		n := 0
		for o1 := range from {
			if H[o1.H] {
				n++
			}
		}
		if n > 1 {
			return false
		}
	}
	return true
}
