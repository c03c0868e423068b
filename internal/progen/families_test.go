package progen

import "testing"

// TestFamilies holds the interpreter to the known answers.
func TestFamilies(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Families() {
		if seen[f.Name] {
			t.Errorf("%s: two families of this name", f.Name)
		}
		seen[f.Name] = true
		p, err := parse(f.Name, f.text)
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		r := p.Explore(0)
		if !r.Complete {
			t.Errorf("%s: not complete after %d states", f.Name, r.States)
		}
		if r.Racy() != f.Racy || (len(r.Misuse) > 0) != f.Misuse {
			t.Errorf("%s: racy %v (want %v), misuse %v (want %v)%s", f.Name, r.Racy(), f.Racy, len(r.Misuse) > 0, f.Misuse, show(p, r))
		}
	}
}

// show lists the pairs of r, one a line.
func show(p *Program, r Result) string {
	s := ""
	for _, pair := range append(append([]Pair{}, r.Races...), r.Misuse...) {
		s += "\n\t" + p.Access(pair.A).String() + " | " + p.Access(pair.B).String()
	}
	return s
}
