package reach

import (
	"fmt"
	"slices"
)

// Unsettled says where a rule, applied to the solution with nothing remembered,
// still lowers something, or where the solution that visits in the opposite order
// finds differs; "" if nowhere.
func (e *Effects) Unsettled() string {
	order := e.v.CallOrder()
	back := slices.Clone(order)
	slices.Reverse(back)
	other := unsolved(e.v)
	other.settle(back, 1000)
	if at := e.differs(other); at != "" {
		return "visits in the opposite order: " + at
	}
	clear(other.gave)
	clear(other.boxed)
	clear(other.put)
	other.solve(order, 1000)
	if at := e.differs(other); at != "" {
		return "all rules once more: " + at
	}
	return ""
}

func (e *Effects) differs(o *Effects) string {
	for n := range e.types {
		for x := range e.types[n] {
			if e.types[n][x] != o.types[n][x] {
				return fmt.Sprintf("instance %d of %s, variable %d: %d, %d", n, e.v.Prog.Funcs[e.v.Res.Insts[n].Fn].Name, x, e.types[n][x], o.types[n][x])
			}
		}
	}
	for c := range e.cells {
		if e.cells[c] != o.cells[c] {
			return fmt.Sprintf("cell %d, %s: %d, %d", c, e.v.Res.Label(uint32(c)), e.cells[c], o.cells[c])
		}
	}
	return ""
}
