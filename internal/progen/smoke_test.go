package progen
import ("testing";"fmt";"time")
func TestSmoke(t *testing.T) {
 for _, src := range []string{`
var n int
func main() {
	go func() {
		n++
	}()
	n++
}
`,`
var mu sync.Mutex
var n int
func main() {
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			mu.Lock()
			n++
			mu.Unlock()
		}()
	}
	wg.Wait()
	use(n)
}
`,`
type node struct { n int; next *node }
func main() {
	c := make(chan *node)
	done := make(chan bool)
	go func() {
		for p := range c {
			p.n++
		}
		close(done)
	}()
	for i := range 2 {
		p := &node{n: i}
		p.n = 2
		c <- p
		if maybe() {
			use(p.n)
		}
	}
	close(c)
	<-done
}
`,`
var ready atomic.Bool
var data int
func main() {
	go func() {
		data = 1
		ready.Store(true)
	}()
	for !ready.Load() {
	}
	use(data)
}
`,`
var ready bool
var data int
func main() {
	go func() {
		data = 1
		ready = true
	}()
	for !ready {
	}
	use(data)
}
`} {
  p, err := Parse("x", src)
  if err != nil { t.Fatal(err) }
  t0 := time.Now()
  r := p.Explore(0)
  fmt.Println(time.Since(t0), r.States, r.Complete, r.Stuck)
  for _, pr := range r.Races { fmt.Println("   ", p.Access(pr.A), "|", p.Access(pr.B)) }
  for _, pr := range r.Misuse { fmt.Println("  misuse ", p.Access(pr.A), "|", p.Access(pr.B)) }
 }
}
