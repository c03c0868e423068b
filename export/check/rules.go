package check

import "github.com/bfverify/bfverify/facts"

// What makers of claims use; Check does not.

// Rules are what is asked of the claims about one program, of which those about
// points-to sets and calls are closed.
type Rules struct {
	k   *checker
	ask *Asked
}

// NewRules gives the claims that are asked about their sizes, at their strongest. It
// returns nil for a program that is refused.
func NewRules(p *facts.Program, c *Claims, ask *Asked) *Rules {
	k := newChecker(p, c)
	k.run(k.shape)
	if k.rep.Failed != nil || len(k.rep.Refused) > 0 {
		return nil
	}
	k.control()
	c.Escaped = NewBits(len(c.Objects))
	for i := 1; i < len(c.Insts); i++ {
		in, n := &c.Insts[i], len(k.fn(InstID(i)).Blocks)
		in.Does, in.Before = NewBits(k.deeds()), NewBits(k.deeds())
		in.Held, in.Own, in.Gained, in.Left, in.Releases = make([]State, n), make([]State, n), State{All: true}, State{All: true}, nil
		in.Prints = make([]Print, len(k.printRows(InstID(i))))
		for b := range in.Held {
			in.Held[b].All, in.Own[b].All = true, true
		}
	}
	return &Rules{k, ask}
}

// May asks of printing, escape and what may be done.
func (r *Rules) May() {
	r.k.visited(r.ask)
	r.k.escape(r.ask)
	r.k.does(r.ask)
}

// Must asks of the facts of one instance.
func (r *Rules) Must(i InstID) { r.k.musts(i, r.ask) }

// Credits looks whether credits are missing, and reports whether more are than before.
func (r *Rules) Credits() bool {
	r.k.forget()
	return r.k.credits()
}
