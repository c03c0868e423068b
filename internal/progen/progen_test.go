package progen

import (
	"errors"
	"fmt"
	"go/scanner"
	"slices"
	"strings"
	"testing"
)

// TestDeterminism makes and explores each program twice.
func TestDeterminism(t *testing.T) {
	for seed := range uint64(*seeds) {
		p, q := Generate(seed, Config{}), Generate(seed, Config{})
		if p.Source() != q.Source() || p.Name != q.Name || !slices.Equal(p.Accesses(), q.Accesses()) {
			t.Fatalf("seed %d: two programs:\n%s\n%s", seed, p.Source(), q.Source())
		}
		r, s := p.Explore(5000), q.Explore(5000)
		if !slices.Equal(r.Races, s.Races) || !slices.Equal(r.Misuse, s.Misuse) || r.States != s.States || r.Complete != s.Complete {
			t.Errorf("seed %d: two results: %v, %v", seed, r, s)
		}
	}
}

// TestParseOwnSource checks that Source is a fixed point of Parse, so that its
// lines are those of the accesses.
func TestParseOwnSource(t *testing.T) {
	for seed := range uint64(*seeds) {
		p := Generate(seed, Config{})
		q, err := Parse(p.Name, p.Source())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if p.Source() != q.Source() || !slices.Equal(p.Accesses(), q.Accesses()) {
			t.Errorf("seed %d: Source changes:\n%s\n%s", seed, p.Source(), q.Source())
		}
	}
}

// TestPairs checks whole sets of pairs. Each line with a comment "// L" has the
// label L; want lists the racing pairs of labels.
func TestPairs(t *testing.T) {
	for _, test := range []struct{ name, want, text string }{
		{"read and write", "AB BB", `
var n int

func main() {
	go func() {
		use(n) // A
	}()
	go func() {
		n = 1 // B
	}()
	go func() {
		n = 1 // B
	}()
}`},
		{"write before go is ordered", "BC", `
var n int

func main() {
	n = 1 // A
	go func() {
		n = 2 // B
	}()
	n = 3 // C
}`},
		{"field, pointer and copy", "AC BC BD", `
type obj struct {
	a, b int
}

func main() {
	p := &obj{}
	q := &p.b
	go func() {
		p.a = 1 // A
		*q = 1  // B
	}()
	r := *p // C
	p.b = r.b // D
}`},
		{"lock guards the pairs under it only", "AC", `
var mu sync.Mutex
var n int

func main() {
	go func() {
		n++ // A
		mu.Lock()
		n++ // B
		mu.Unlock()
	}()
	mu.Lock()
	n++ // C
	mu.Unlock()
}`},
		{"value decides what runs", "AC BD", `
var ready bool
var n int

func main() {
	go func() {
		n = 1 // B
		ready = true // A
	}()
	if ready { // C
		use(n) // D
	}
}`},
		{"value is never seen", "AC", `
var ready bool
var n int

func main() {
	go func() {
		n = 1 // B
		ready = false // A
	}()
	if ready { // C
		use(n) // D
	}
}`},
		{"three-clause loop copies its variable", "AB", `
func main() {
	for i := 0; i < 2; i++ { // A
		go func() {
			i = 5 // B
		}()
	}
}`},
		{"nested goroutines", "AC AD", `
var n int

func main() {
	go func() {
		go func() {
			n = 1 // A
		}()
	}()
	go func() {
		n = 2 // C
		go func() {
			n = 3 // D
		}()
	}()
}`},
		{"map header", "AB AC", `
var m = map[int]int{}

func main() {
	go func() {
		m[0] = 1 // A
	}()
	use(m[1]) // B
	use(len(m)) // C
}`},
		{"append in place", "AA", `
func main() {
	s := []int{0, 0}
	s = s[:1]
	for range 2 {
		go func() {
			t := append(s, 1) // A
			use(t[0])
		}()
	}
}`},
		{"append to a full slice", "", `
func main() {
	s := []int{0}
	for range 2 {
		go func() {
			t := append(s, 1) // A
			use(t[0])
		}()
	}
}`},
		{"atomic against plain", "AB BC", `
var n int32

func main() {
	go func() {
		atomic.StoreInt32(&n, 1) // A
	}()
	go func() {
		n = 1 // B
	}()
	use(int(atomic.LoadInt32(&n))) // C
}`},
	} {
		p, err := Parse(test.name, test.text)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		label := map[int]string{}
		for i, line := range strings.Split(p.Source(), "\n") {
			if _, l, ok := strings.Cut(line, "// "); ok {
				label[i+1] = l
			}
		}
		r := p.Explore(0)
		got := map[string]bool{}
		for _, l := range p.Lines(r.Races) {
			a, b := label[l[0]], label[l[1]]
			got[min(a, b)+max(a, b)] = true
		}
		want := map[string]bool{}
		for _, w := range strings.Fields(test.want) {
			want[w] = true
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || !r.Complete {
			t.Errorf("%s: races %v, want %v%s", test.name, got, want, show(p, r))
		}
	}
}

// TestParseErrors checks that what is outside the subset is named.
func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"func main() {\n\tgoto end\nend:\n}":                             "main.go:4: goto is outside",
		"func f() (int, int) {\n\treturn 1, 2\n}\n\nfunc main() {\n}":    "this list of results",
		"func f() {\n\tg()\n}\n\nfunc g() {\n\tf()\n}\n\nfunc main() {}": "a recursive function",
		"func main() {\n\tx := 1.5\n\t_ = x\n}":                          "type float64",
	} {
		_, err := Parse("test", text)
		var u *UnsupportedError
		if !errors.As(err, &u) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	var list scanner.ErrorList
	if _, err := Parse("test", "func main( {"); !errors.As(err, &list) {
		t.Errorf("syntax error: %v", err)
	}
}

// TestShrink checks that what is left races and that nothing else can go.
func TestShrink(t *testing.T) {
	racy := func(p *Program) bool { return p.Explore(5000).Racy() }
	done := 0
	for seed := uint64(0); done < 15; seed++ {
		p := Generate(seed, Config{})
		if !racy(p) {
			continue
		}
		done++
		q := Shrink(p, racy)
		if !racy(q) {
			t.Errorf("seed %d: no race left in\n%s", seed, q.Source())
		}
		if n := strings.Count(q.Source(), "\n"); n > 40 {
			t.Errorf("seed %d: %d lines left of\n%s", seed, n, p.Source())
		}
	}
}
