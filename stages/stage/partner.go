package stage

import (
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

// partners tells, for each channel, whether an operation on it can ever find
// another to complete with: the relations mayBeReceived(C), mayBeSent(C).
//
//	(K1) a receive completes with a send, or after a close, that some function has
//	     on this channel
//	(K2) a send completes with a receive, or into a buffer
//	(K3) reflection, and code that is not modelled, may do anything to the
//	     channels that it gets hold of; and so to those not made by make
//
// Operations of all entries count, and those in dead code too.
type partners struct {
	sent, received Bits // cells
	wild           Bits
}

func (w *World) findPartners() *partners {
	k := &partners{NewBits(w.Res.Cells()), NewBits(w.Res.Cells()), NewBits(w.Res.Cells())}
	for i := 1; i < len(w.Res.Insts); i++ {
		id := pta.InstID(i)
		f := w.Res.Func(id)
		if f == nil {
			continue
		}
		into := func(b Bits, r facts.Reg) { w.Res.PointsTo(id, r, 0).Each(func(c uint32) { b.Add(int(c)) }) }
		for j := range f.Syncs {
			switch y := &f.Syncs[j]; y.Op {
			case facts.SyncSend, facts.SyncClose:
				into(k.sent, y.Obj)
			case facts.SyncRecv:
				into(k.received, y.Obj)
			}
		}
		for j := range f.Selects {
			for _, c := range f.Selects[j].Cases {
				if c.Send {
					into(k.sent, c.Chan)
				} else {
					into(k.received, c.Chan)
				}
			}
		}
		for j := range f.Deeps {
			if f.Pkg != "reflect" && !f.Deeps[j].Write {
				continue
			}
			w.Res.Deep(id, uint32(j)).Each(func(c uint32) { // (K3)
				o, _ := w.Res.Object(c)
				if s, ok := w.Res.SiteKind(o); ok && s == facts.SiteChan {
					k.wild.Add(int(w.Res.Objs[o].Node))
				}
			})
		}
	}
	return k
}

// MayCommunicate reports whether a case of a select of instance n can ever be
// ready; true is the safe answer.
func (w *World) MayCommunicate(n pta.InstID, c *facts.SelectCase) bool {
	may := false
	w.Res.PointsTo(n, c.Chan, 0).Each(func(cell uint32) {
		o, _ := w.Res.Object(cell)
		s := w.Res.Site(o)
		switch {
		case s == nil || s.Kind != facts.SiteChan || w.partners.wild.Has(int(cell)) || w.Prog.Funcs[w.Res.Objs[o].Fn].Is(facts.FnModel):
			may = true // (K3); a model may leave out what the real function does later
		case c.Send:
			may = may || !s.CapKnown || s.Cap > 0 || w.partners.received.Has(int(cell))
		default:
			may = may || w.partners.sent.Has(int(cell))
		}
	})
	return may
}
