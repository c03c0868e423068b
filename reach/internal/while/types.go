package while

import "slices"

// Top is the site of a type of which nothing is known; Any the loop iteration.
const (
	Top      = -1
	Any byte = 2
)

// Type is a non-null type of Figure 6, ⟨Π, ĥ⟩: Pi has a 0, 1 or Any for each
// loop. No type at all (⊥) is a nil *Type.
type Type struct {
	Pi string
	H  int
}

// Effect is τ1 ▷ τ2. Field labels are the design's addition; the rules of the
// paper do not look at them.
type Effect struct {
	T1, T2 Type
	F      int
}

// Effects are the abstract heap effects K, each once, in the order found.
type Effects struct {
	List []Effect
	seen map[Effect]bool
}

func (k *Effects) add(e Effect) bool {
	if k.seen == nil {
		k.seen = map[Effect]bool{}
	}
	if k.seen[e] {
		return false
	}
	k.seen[e] = true
	k.List = append(k.List, e)
	return true
}

// Infer returns K with ∅, Π, Γ ⊢ body : Γ', K, where Π is 1 everywhere and Γ
// is ⊥ everywhere: the most that the rules of Figure 8 can prove. Where (17) and
// (18) want equal environments, the least upper bound serves.
func (p *Program) Infer() *Effects { return p.infer(false) }

// InferActive is Infer, but that a loop's last iteration is forgotten when it is
// left, as in package reach: there a type speaks of frames that the point is in.
func (p *Program) InferActive() *Effects { return p.infer(true) }

func (p *Program) infer(active bool) *Effects {
	c := &checker{p: p, k: &Effects{}, active: active}
	c.check(p.Body, make([]*Type, p.Vars), make([]bool, p.Loops))
	return c.k
}

type checker struct {
	p      *Program
	k      *Effects
	active bool
}

func (c *checker) top() *Type {
	pi := make([]byte, c.p.Loops)
	for w := range pi {
		pi[w] = Any
	}
	return &Type{string(pi), Top}
}

// check returns the environment after s, and adds the effects of s to k.
func (c *checker) check(s Stmt, env []*Type, W []bool) []*Type {
	set := func(x int, t *Type) []*Type {
		env = slices.Clone(env)
		env[x] = t
		return env
	}
	switch s := s.(type) {
	case Null: // (11)
		return set(s.X, nil)
	case New: // (12)
		pi := make([]byte, c.p.Loops)
		for w := range pi {
			if W[w] {
				pi[w] = 1
			}
		}
		return set(s.X, &Type{string(pi), s.H})
	case Copy: // (13)
		return set(s.X, env[s.Y])
	case Load: // (14)
		return set(s.X, c.top())
	case Store: // (15)
		if t1, t2 := env[s.X], env[s.Y]; t1 != nil && t2 != nil {
			c.k.add(Effect{*t1, *t2, s.F})
		}
		return env
	case Seq: // (16)
		for _, t := range s {
			env = c.check(t, env, W)
		}
		return env
	case If: // (17)
		return join(c.check(s.Then, env, W), c.check(s.Else, env, W))
	case While: // (18)
		for {
			before := c.k
			c.k = &Effects{} // those of a weaker environment are given up
			W[s.W] = true
			after := join(env, c.check(s.Body, loopback(env, s.W), W))
			W[s.W] = false
			found := c.k
			c.k = before
			if equal(env, after) {
				for _, e := range found.List {
					c.k.add(e)
				}
				if c.active {
					return loopback(env, s.W)
				}
				return env
			}
			env = after
		}
	}
	return env
}

// join is Definition 3.1.
func join(a, b []*Type) []*Type {
	out := make([]*Type, len(a))
	for x := range a {
		switch s, t := a[x], b[x]; {
		case s == nil:
			out[x] = t
		case t == nil:
			out[x] = s
		default:
			pi := []byte(s.Pi)
			for w := range pi {
				if pi[w] != t.Pi[w] {
					pi[w] = Any
				}
			}
			h := s.H
			if h != t.H {
				h = Top
			}
			out[x] = &Type{string(pi), h}
		}
	}
	return out
}

// loopback is Definition 3.2, Γ^(w+).
func loopback(env []*Type, w int) []*Type {
	out := slices.Clone(env)
	for x, t := range env {
		if t != nil && t.Pi[w] == 1 {
			pi := []byte(t.Pi)
			pi[w] = Any
			out[x] = &Type{string(pi), t.H}
		}
	}
	return out
}

func equal(a, b []*Type) bool {
	return slices.EqualFunc(a, b, func(s, t *Type) bool {
		return s == t || s != nil && t != nil && *s == *t
	})
}

// Abstracts reports o ≼ τ (Figure 7a).
func (t Type) Abstracts(o Object) bool {
	for w := range t.Pi {
		switch n := o.Count(w); {
		case t.Pi[w] == 0 && n != 0, t.Pi[w] == 1 && n == 0:
			return false
		}
	}
	return t.H == Top || t.H == o.H
}

// Abstracts reports (o1, o2) ∝ (τ1, τ2) (Figure 7b).
func (e Effect) Abstracts(c Edge) bool {
	for w := range e.T1.Pi {
		if e.T1.Pi[w] == 1 && e.T2.Pi[w] == 1 && c.O1.Count(w) != c.O2.Count(w) {
			return false
		}
	}
	return e.T1.Abstracts(c.O1) && e.T2.Abstracts(c.O2)
}

// compatible is τ1 ~ τ2 (section 4).
func compatible(a, b Type) bool {
	if a.H != b.H && a.H != Top && b.H != Top {
		return false
	}
	for w := range a.Pi {
		if a.Pi[w] != b.Pi[w] && a.Pi[w] != Any && b.Pi[w] != Any {
			return false
		}
	}
	return true
}

// Rules are clauses of Definition 4.2 and Figure 9 that a test can leave out, to
// see that it notices.
type Rules struct {
	NoWiden bool // 4.2 (b)
	NoSame  bool // the last line of Figure 9
	NoBelow bool // τ1 < ⊤
	NoEqual bool // τ1 = τ2
}

// Closure returns K⁺ (Definition 4.2).
func (k *Effects) Closure(without Rules) *Effects {
	out := &Effects{}
	for _, e := range k.List {
		out.add(Effect{T1: e.T1, T2: e.T2})
	}
	for i := 0; i < len(out.List); i++ {
		a := out.List[i]
		for _, b := range k.List {
			if !compatible(a.T2, b.T1) {
				continue
			}
			pi := []byte(b.T2.Pi)
			for w := range pi {
				if a.T1.Pi[w] == 1 && pi[w] == 1 && (a.T2.Pi[w] != 1 || b.T1.Pi[w] != 1) && !without.NoWiden {
					pi[w] = Any
				}
			}
			out.add(Effect{T1: a.T1, T2: Type{string(pi), b.T2.H}})
		}
	}
	return out
}

// below is τ < ⊤.
func (t Type) below() bool { return t.H != Top && !slices.Contains([]byte(t.Pi), Any) }

// Disjoint reports h ∈ DR_K(H), of the second equation of Figure 9, for the K⁺
// that Closure gave.
func (plus *Effects) Disjoint(H map[int]bool, h int, without Rules) bool {
	for _, a := range plus.List {
		if a.T2.H != h && a.T2.H != Top {
			continue
		}
		for _, b := range plus.List {
			if b.T2.H != h && b.T2.H != Top || !compatible(a.T2, b.T2) {
				continue
			}
			if a.T1.H == Top || b.T1.H == Top {
				return false
			}
			if !H[a.T1.H] || !H[b.T1.H] {
				continue
			}
			if a.T1 != b.T1 && !without.NoEqual || !a.T1.below() && !without.NoBelow {
				return false
			}
			for w := range a.T1.Pi {
				if a.T1.Pi[w] == 1 && (a.T2.Pi[w] != 1 || b.T2.Pi[w] != 1) && !without.NoSame {
					return false
				}
			}
		}
	}
	return true
}
