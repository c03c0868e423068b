package stage

// FlowTouched reports whether a cell of the program's memory is read or written
// by rows that are no accesses.
func (w *World) FlowTouched(cell uint32) bool {
	w.values.flows()
	return w.values.touched.Has(int(cell))
}

// FlowTouchedLater is FlowTouched but for what append writes into an array that it
// has just made, before anything but append knows of it.
func (w *World) FlowTouchedLater(cell uint32) bool {
	w.values.flows()
	return w.values.later.Has(int(cell))
}

// Wild reports whether code that is not modelled, or reflection, may do anything
// to the channel at a cell.
func (w *World) Wild(cell uint32) bool { return w.partners.wild.Has(int(cell)) }

// IsType reports whether a value of the named type starts at a cell.
func (w *World) IsType(cell uint32, name string) bool {
	o, off := w.Res.Object(cell)
	c := w.Res.Cell(o, off)
	if c == nil {
		return false
	}
	for _, t := range c.Types {
		if w.Prog.Types[t].Name == name {
			return true
		}
	}
	return false
}
