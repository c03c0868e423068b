//go:build bfverify

// Command selftest does each kind of synchronisation once. It prints the name of what it
// does; those called race are to be reported, the others not.
package main

import (
	"context"
	"iter"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

type box struct{ a, b int64 }

var global int64

var tests = []struct {
	name string
	f    func()
}{
	{"join", func() {
		x := new(box)
		x.a++
		spawn(1, func(int) { x.a++ })
		x.a++
	}},
	{"race of two goroutines", func() {
		x := new(box)
		spawn(2, func(int) { x.a++ })
	}},
	{"race on a global", func() {
		spawn(2, func(int) { global++ })
	}},
	{"fields apart", func() {
		x := new(box)
		spawn(2, func(i int) {
			if i == 0 {
				x.a++
			} else {
				x.b++
			}
		})
	}},
	{"bytes apart", func() {
		x := new([8]byte)
		spawn(8, func(i int) { x[i]++ })
	}},
	{"race of a copy with a byte", func() {
		x, y := make([]byte, 100), make([]byte, 100)
		spawn(2, func(i int) {
			if i == 0 {
				copy(x, y)
			} else {
				x[77] = 1
			}
		})
	}},
	{"readers", func() {
		x := new(box)
		spawn(3, func(int) { use(x.a) })
		x.a++
	}},
	{"race of readers with a writer", func() {
		x := new(box)
		spawn(3, func(i int) {
			if i == 2 {
				x.b++
			} else {
				use(x.b)
			}
		})
	}},
	{"mutex", func() {
		x := new(box)
		var mu sync.Mutex
		spawn(3, func(int) {
			for range 100 {
				mu.Lock()
				x.a++
				mu.Unlock()
			}
		})
	}},
	{"race under two mutexes", func() {
		x := new(box)
		var mu [2]sync.Mutex
		spawn(2, func(i int) {
			mu[i].Lock()
			x.a++
			mu[i].Unlock()
		})
	}},
	{"race with one who waits for a mutex", func() {
		x := new(box)
		var mu sync.Mutex
		var wg sync.WaitGroup
		wg.Add(1)
		mu.Lock()
		go func() {
			defer wg.Done()
			x.a++
			mu.Lock()
			mu.Unlock()
		}()
		time.Sleep(5 * time.Millisecond) // it waits now, or later: neither orders anything
		mu.Unlock()
		x.a++
		wg.Wait()
	}},
	{"race with a mutex that is overwritten", func() {
		mu := new(sync.Mutex)
		spawn(2, func(i int) {
			if i == 0 {
				*mu = sync.Mutex{}
			} else {
				mu.Lock()
			}
		})
	}},
	{"rwmutex", func() {
		x := new(box)
		var mu sync.RWMutex
		spawn(4, func(i int) {
			for j := range 100 {
				if j%4 == i {
					mu.Lock()
					x.a++
					mu.Unlock()
				} else {
					mu.RLock()
					use(x.a)
					mu.RUnlock()
				}
			}
		})
	}},
	{"race under rlock", func() {
		x := new(box)
		var mu sync.RWMutex
		spawn(2, func(int) {
			mu.RLock()
			x.a++
			mu.RUnlock()
		})
	}},
	{"unbuffered channel", func() {
		x := new(box)
		c, d := make(chan int), make(chan int)
		go func() {
			x.a++
			c <- 1
			<-d
			x.a++
			c <- 1
		}()
		<-c
		x.a++
		d <- 1
		<-c
		x.a++
	}},
	{"buffered channel", func() {
		c := make(chan *box, 4)
		go func() {
			for range 100 {
				x := new(box)
				x.a++
				c <- x
			}
			close(c)
		}()
		for x := range c {
			x.a++
		}
	}},
	{"channel as lock", func() {
		x := new(box)
		c := make(chan bool, 1)
		spawn(4, func(int) {
			for range 50 {
				c <- true
				x.a++
				<-c
			}
		})
	}},
	{"race with a channel of two as lock", func() {
		x := new(box)
		c := make(chan bool, 2)
		spawn(2, func(int) {
			c <- true
			x.a++
			<-c
		})
	}},
	{"select and close", func() {
		x := new(box)
		c, quit := make(chan int), make(chan struct{})
		go func() { x.a++; close(quit) }()
		select {
		case <-c:
		case <-quit:
		}
		x.a++
	}},
	{"once", func() {
		x := new(box)
		var once sync.Once
		spawn(4, func(int) {
			once.Do(func() { x.a++ })
			use(x.a)
		})
	}},
	{"cond", func() {
		x := new(box)
		var mu sync.Mutex
		c := sync.NewCond(&mu)
		ready := false
		go func() {
			x.a++
			mu.Lock()
			ready = true
			mu.Unlock()
			c.Signal()
		}()
		mu.Lock()
		for !ready {
			c.Wait()
		}
		mu.Unlock()
		x.a++
	}},
	{"atomic pointer", func() {
		var p atomic.Pointer[box]
		go func() {
			x := new(box)
			x.a++
			p.Store(x)
		}()
		for p.Load() == nil {
			runtime.Gosched()
		}
		p.Load().a++
	}},
	{"atomic functions", func() {
		x := new(box)
		flag := new(int32)
		go func() {
			x.a++
			atomic.StoreInt32(flag, 1)
		}()
		for !atomic.CompareAndSwapInt32(flag, 1, 2) {
			runtime.Gosched()
		}
		x.a++
	}},
	{"atomic counter passes on", func() {
		x := new(box)
		var n atomic.Int64
		spawn(3, func(i int) {
			if n.Add(1) == 3 {
				x.a++ // after the others
				x.b++
			} else if i == 5 {
				x.b++
			}
		})
		for n.Load() != 3 {
			runtime.Gosched()
		}
	}},
	{"race of atomic and plain", func() {
		x := new(int64)
		spawn(2, func(i int) {
			if i == 0 {
				atomic.AddInt64(x, 1)
			} else {
				*x = 7
			}
		})
	}},
	{"atomic value", func() {
		var v atomic.Value
		go func() {
			x := new(box)
			x.a++
			v.Store(x)
		}()
		for v.Load() == nil {
			runtime.Gosched()
		}
		v.Load().(*box).a++
	}},
	{"sync.Map", func() {
		var m sync.Map
		go func() {
			x := new(box)
			x.a++
			m.Store(1, x)
		}()
		for {
			if v, ok := m.Load(1); ok {
				v.(*box).a++
				break
			}
			runtime.Gosched()
		}
	}},
	{"sync.Pool", func() {
		p := sync.Pool{New: func() any { return new(box) }}
		spawn(4, func(int) {
			for range 200 {
				x := p.Get().(*box)
				x.a++
				p.Put(x)
			}
		})
	}},
	{"timer", func() {
		x := new(box)
		x.a++
		done := make(chan bool)
		time.AfterFunc(time.Millisecond, func() { x.a++; close(done) })
		<-done
		x.a++
	}},
	{"race with a timer", func() {
		x := new(box)
		done := make(chan bool)
		time.AfterFunc(time.Millisecond, func() { x.a++; close(done) })
		x.a++
		<-done
	}},
	{"context", func() {
		x := new(box)
		ctx, cancel := context.WithCancel(context.Background())
		go func() { x.a++; cancel() }()
		<-ctx.Done()
		x.a++
	}},
	{"coroutine", func() {
		x := new(box)
		next, stop := iter.Pull(func(yield func(int) bool) {
			for i := range 10 {
				x.a++
				if !yield(i) {
					return
				}
			}
		})
		for range 5 {
			next()
			x.a++
		}
		stop()
		x.a++
	}},
	{"race on a map", func() {
		m := map[int]int{1: 1}
		done := make(chan bool)
		go func() { use(int64(m[1])); done <- true }()
		time.Sleep(5 * time.Millisecond)
		m[2] = 2
		<-done
	}},
	{"finalizer", func() {
		done := make(chan bool)
		func() {
			x := &[]*box{new(box)}
			(*x)[0].a++
			runtime.SetFinalizer(x, func(x *[]*box) { (*x)[0].a++; close(done) })
		}()
		for {
			runtime.GC()
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}},
	{"memory used again", func() {
		spawn(2, func(i int) {
			for range 30000 {
				x := new(box)
				sinks[i] = x
				x.a++
			}
		})
	}},
	{"many goroutines", func() {
		x := make([]int64, 1000)
		spawn(len(x), func(i int) { x[i]++ })
		for i := range x {
			x[i]++
		}
	}},
}

var sinks [2]*box

//go:noinline
func use(int64) {}

// spawn runs n goroutines, which nothing orders, and waits for them.
func spawn(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			f(i)
		}()
	}
	wg.Wait()
}

func say(s string) { os.Stderr.WriteString(s + "\n") }

func main() {
	for _, t := range tests {
		say("begin " + t.name)
		t.f()
		say("end")
	}
	n := ""
	for i := len(tests); i > 0; i /= 10 {
		n = string(rune('0'+i%10)) + n
	}
	say("all " + n + " done")
}
