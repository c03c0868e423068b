package stages

// CheckOrder reports rows of Pipeline that stand against the documented order,
// and rows that the order forgets.
func CheckOrder(report func(format string, args ...any)) {
	at := map[string]int{}
	for i, s := range Pipeline {
		at[s.Name] = i
	}
	named := map[string]bool{}
	for _, o := range order {
		named[o.before], named[o.after] = true, true
		b, ok1 := at[o.before]
		a, ok2 := at[o.after]
		if !ok1 || !ok2 || b >= a {
			report("%s has to stand before %s: %s", o.before, o.after, o.why)
		}
	}
	for _, s := range Pipeline {
		if !named[s.Name] {
			report("%s has no place in the documented order", s.Name)
		}
	}
}

// AllAlone sets whether threads and order classes are taken one by one.
func AllAlone(on bool) { allAlone = on }
