package progen

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Config steers Generate. The zero value is the recommended mix.
type Config struct {
	Mutations int     // at most so many mutations of an idiom; 0 means 3, negative none
	Soup      float64 // share of programs made of random statements; 0 means 0.15, negative none
	Compose   float64 // share of programs that join two idioms; 0 means 0.25, negative none
	Family    string  // only idioms whose name starts so, e.g. "wg_"
	MaxLines  int     // give up a mutation that makes the source longer; 0 means 120
}

func (c Config) withDefaults() Config {
	if c.Mutations == 0 {
		c.Mutations = 3
	}
	if c.Soup == 0 {
		c.Soup = 0.15
	}
	if c.Compose == 0 {
		c.Compose = 0.25
	}
	if c.MaxLines == 0 {
		c.MaxLines = 120
	}
	return c
}

// Generate makes the program of a seed. Equal arguments give equal programs.
// It starts from a family, mostly one without races, or from two joined, or from random
// statements, and mutates it.
func Generate(seed uint64, cfg Config) *Program {
	cfg = cfg.withDefaults()
	rng := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	var p *Program
	if cfg.Family == "" && rng.Float64() < cfg.Soup {
		p = soup(rng)
	} else {
		p = pick(rng, cfg).Program()
		if rng.Float64() < cfg.Compose {
			if q := compose(rng, p, pick(rng, cfg).Program()); q != nil {
				p = q
			}
		}
	}
	n := 0
	switch r := rng.Float64(); {
	case r < 0.12:
	case r < 0.50:
		n = 1
	case r < 0.85:
		n = 2
	default:
		n = 3
	}
	for range min(n, max(cfg.Mutations, 0)) {
		p = mutate(rng, p, cfg)
	}
	p.Seed = seed
	return p
}

// pick chooses a family, one without races three times out of four.
func pick(rng *rand.Rand, cfg Config) Family {
	racy := rng.Float64() < 0.25
	var list []Family
	for _, f := range loadFamilies() {
		if strings.HasPrefix(f.Name, cfg.Family) && f.Racy == racy {
			list = append(list, f)
		}
	}
	if len(list) == 0 {
		list = loadFamilies()
	}
	return list[rng.IntN(len(list))]
}

// mutate applies one random mutation. It returns p if none of some attempts
// gives a valid program.
func mutate(rng *rand.Rand, p *Program, cfg Config) *Program {
	for range 40 {
		m := mutations[weighted(rng)]
		e := newEditor(p, rng)
		if !m.apply(e) {
			continue
		}
		q, err := Parse(p.Name+"+"+m.name, e.result())
		if err != nil || q.body == p.body || strings.Count(q.src, "\n") > cfg.MaxLines {
			continue
		}
		return q
	}
	return p
}

// compose joins two programs: main of the second becomes a function that the
// first calls or spawns. Declarations of equal text may be shared.
func compose(rng *rand.Rand, p, q *Program) *Program {
	share := rng.Float64() < 0.5
	have := map[string]string{} // name to text of the declarations of p
	for _, d := range topDecls(p) {
		for _, name := range d.names {
			have[name] = d.text
		}
	}
	rename := map[string]string{}
	var drop []string
	for _, d := range topDecls(q) {
		for _, name := range d.names {
			text, clash := have[name]
			switch {
			case name == "main":
				rename[name] = "other"
			case !clash:
			case share && text == d.text && len(d.names) == 1:
				drop = append(drop, d.text)
			default:
				rename[name] = name + "2"
			}
		}
	}
	body := renameTop(q, rename)
	for _, text := range drop {
		body = strings.Replace(body, text, "", 1)
	}
	e := newEditor(p, rng)
	call := "other()\n"
	if rng.Float64() < 0.6 {
		call = "go " + call
	}
	if !e.insertInMain(call) {
		return nil
	}
	r, err := Parse(p.Name+"&"+q.Name, e.result()+"\n"+body)
	if err != nil {
		return nil
	}
	return r
}

// soup makes a program of random statements on a fixed set of variables.
func soup(rng *rand.Rand) *Program {
	s := &souper{rng: rng}
	var b strings.Builder
	fmt.Fprintf(&b, `type obj struct {
	sync.Mutex
	n int
}

var x, y int
var mu, nu sync.Mutex
var rw sync.RWMutex
var flag atomic.Bool
var once sync.Once
var c = make(chan *obj%s)
var done = make(chan bool)

func setup() {
	x = 1
}

`, []string{"", ", 1", ", 2"}[rng.IntN(3)])
	b.WriteString("func helper(p *obj) {\n" + s.block(1+rng.IntN(2), 1) + "}\n\n")
	b.WriteString("func main() {\n\tp := &obj{}\n\tq := p\n\tif maybe() {\n\t\tq = &obj{}\n\t}\n\tvar wg sync.WaitGroup\n")
	n := 1 + rng.IntN(3)
	if rng.IntN(3) > 0 {
		fmt.Fprintf(&b, "\twg.Add(%d)\n", n)
		s.wg = true
	}
	for range n {
		if rng.IntN(3) == 0 {
			b.WriteString(s.block(1, 0))
		}
		b.WriteString("\tgo func() {\n")
		if rng.IntN(3) == 0 {
			b.WriteString("\tp := &obj{}\n")
		}
		body := s.block(1+rng.IntN(3), 0)
		if s.wg && rng.IntN(8) > 0 {
			if rng.IntN(2) == 0 {
				body = "defer wg.Done()\n" + body
			} else {
				body += "wg.Done()\n"
			}
		}
		b.WriteString(body + "use(p.n)\n}()\n")
	}
	b.WriteString(s.block(1+rng.IntN(2), 0))
	if s.wg && rng.IntN(6) > 0 {
		b.WriteString("wg.Wait()\n")
	}
	b.WriteString(s.block(1+rng.IntN(2), 0))
	b.WriteString("use(q.n)\nwg.Wait()\n}\n")
	p, err := parse("soup", b.String())
	if err != nil {
		panic(fmt.Sprintf("progen: %v in\n%s", err, b.String()))
	}
	return p
}

type souper struct {
	rng *rand.Rand
	wg  bool
}

// block makes n random statements.
func (s *souper) block(n, depth int) string {
	var b strings.Builder
	for range n {
		b.WriteString(s.stmt(depth))
	}
	return b.String()
}

func (s *souper) one(list ...string) string { return list[s.rng.IntN(len(list))] }

func (s *souper) access() string {
	return s.one("x++\n", "use(x)\n", "y++\n", "use(y)\n", "p.n++\n", "use(p.n)\n")
}

func (s *souper) stmt(depth int) string {
	inner := func() string {
		if depth < 2 && s.rng.IntN(3) == 0 {
			return s.stmt(depth + 1)
		}
		return s.access()
	}
	switch s.rng.IntN(14) {
	case 0, 1, 2, 3, 4:
		m := s.one("mu", "mu", "mu", "nu", "p", "rw")
		return m + ".Lock()\n" + inner() + m + ".Unlock()\n"
	case 5:
		return "rw.RLock()\n" + s.access() + "rw.RUnlock()\n"
	case 6:
		return "if flag.Load() {\n" + inner() + "}\n"
	case 7:
		return s.access() + "flag.Store(true)\n"
	case 8:
		return "if maybe() {\n" + inner() + "}\n"
	case 9:
		return s.one("c <- p\n", "c <- &obj{}\n")
	case 10:
		return "if p := <-c; p != nil {\n" + inner() + "use(p.n)\n}\n"
	case 11:
		return s.one("once.Do(setup)\n", "close(done)\n", "<-done\n")
	case 12:
		if depth == 0 {
			return "helper(p)\n"
		}
	}
	return s.access()
}
