// Command robust does much of one thing. All its goroutines change one variable: holding a
// lock, or with -racy without, which is the only race there is.
//
//	robust [-racy] MODE N
//
// At the end it prints what it did and its memory in MiB.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

var (
	racy  = flag.Bool("racy", false, "change the variable without the lock")
	guard sync.Mutex
	total = new(int)
)

// change is what all goroutines do.
func change() {
	if *racy {
		*total++
		return
	}
	guard.Lock()
	*total++
	guard.Unlock()
}

var modes = map[string]func(n int){
	"live":      live,
	"tree":      func(n int) { tree(n) },
	"unwaited":  unwaited,
	"objects":   objects,
	"garbage":   garbage,
	"heap":      heap,
	"allocated": allocated,
	"timers":    timers,
	"readers":   readers,
}

// live has n goroutines at the same time.
func live(n int) {
	slots := make([]int, n)
	var ready, done sync.WaitGroup
	start := make(chan bool)
	for i := range n {
		ready.Add(1)
		done.Add(1)
		go func() {
			defer done.Done()
			slots[i] = i
			change()
			ready.Done()
			<-start
			slots[n-1-i]++
			change()
		}()
	}
	ready.Wait()
	if k := runtime.NumGoroutine(); k < n {
		fail("there are %d goroutines", k)
	}
	close(start)
	done.Wait()
	for i, v := range slots {
		if v != i+1 {
			fail("slot %d has %d", i, v)
		}
	}
}

// tree starts about n goroutines, each of which starts two and waits for them.
func tree(n int) int {
	change()
	if n <= 1 {
		return 1
	}
	var wg sync.WaitGroup
	var sum [2]int
	for i := range sum {
		wg.Go(func() { sum[i] = tree(n / 2) })
	}
	wg.Wait()
	return sum[0] + sum[1]
}

// unwaited starts n goroutines, up to 100 at a time, and waits for none; they are counted.
func unwaited(n int) {
	var left atomic.Int64
	for range n {
		for left.Load() >= 100 {
			runtime.Gosched()
		}
		left.Add(1)
		go func() {
			change()
			left.Add(-1)
		}()
	}
	for left.Load() > 0 {
		runtime.Gosched()
	}
}

// synchronised uses one object of each kind, between two goroutines.
func synchronised() {
	v := new(int)
	var mu sync.Mutex
	var rw sync.RWMutex
	var wg sync.WaitGroup
	var once sync.Once
	flag := new(atomic.Bool)
	cond := sync.NewCond(&mu)
	sent, queue := make(chan int), make(chan int, 3)
	ctx, cancel := context.WithCancel(context.Background())
	wg.Add(1)
	go func() {
		defer wg.Done()
		mu.Lock()
		*v = 1
		cond.Signal()
		mu.Unlock()
		rw.RLock()
		rw.RUnlock()
		once.Do(func() {})
		queue <- 1
		flag.Store(true)
		cancel()
		<-sent
		change()
	}()
	mu.Lock()
	for *v == 0 {
		cond.Wait()
	}
	mu.Unlock()
	rw.Lock()
	rw.Unlock()
	once.Do(func() {})
	<-queue
	<-ctx.Done()
	if !flag.Load() {
		fail("the flag is not set")
	}
	sent <- 2
	wg.Wait()
}

// objects uses n times a dozen synchronisation objects that nobody keeps. The memory must
// not grow in the later part.
func objects(n int) {
	var wg sync.WaitGroup
	var done atomic.Int64
	for range 2 {
		wg.Go(func() {
			for range n / 2 {
				synchronised()
				if done.Add(1) == int64(n/4) {
					settled = resident()
				}
			}
		})
	}
	wg.Wait()
	runtime.GC()
	if now := resident(); now > settled*3/2+32 {
		fail("%d MiB after a quarter, %d MiB at the end", settled, now)
	}
}

// settled is the memory after a part of the work.
var settled int

type node struct {
	left, right *node
	value       int
	data        []byte
}

// build returns a tree of 2^depth-1 nodes.
func build(depth, value int) *node {
	if depth == 0 {
		return nil
	}
	return &node{build(depth-1, value), build(depth-1, value), value, make([]byte, depth*8)}
}

func (n *node) sum() int {
	if n == nil {
		return 0
	}
	n.data[0]++
	return n.value + n.left.sum() + n.right.sum()
}

// garbage makes n trees, most of which are dead soon, with finalizers and maps.
func garbage(n int) {
	var wg sync.WaitGroup
	var final atomic.Int64
	for g := range 4 {
		wg.Go(func() {
			var kept [4]*node
			count := map[int]*node{}
			for i := range n / 4 {
				t := build(10, g+1)
				runtime.SetFinalizer(t, func(t *node) { final.Add(int64(t.value)) })
				kept[i%4] = t
				count[i%100] = t.left
				if s := kept[(i*7)%4].sum(); kept[(i*7)%4] != nil && s != (g+1)*1023 {
					fail("a tree of %d has %d", g, s)
				}
				change()
			}
		})
	}
	wg.Wait()
	runtime.GC()
}

// heap touches n MiB: two goroutines one word each of 4 KB, and the same word of the next.
func heap(n int) {
	const chunk = 1 << 20
	chunks := make([][]uint64, n)
	for i := range chunks {
		chunks[i] = make([]uint64, chunk/8)
	}
	var wg sync.WaitGroup
	for g := range 2 {
		wg.Go(func() {
			for i, c := range chunks {
				for k := g * 512; k < len(c); k += 1024 {
					c[k] = uint64(i)
				}
				change()
			}
		})
	}
	wg.Wait()
	for i, c := range chunks {
		for k := 0; k < len(c); k += 512 {
			if c[k] != uint64(i) {
				fail("word %d of chunk %d is %d", k, i, c[k])
			}
		}
	}
}

// allocated makes and drops n MiB in blocks of all sizes, and writes to all words of each.
// The memory must not grow in the later part.
func allocated(n int) {
	var wg sync.WaitGroup
	for g := range 2 {
		wg.Go(func() {
			for left, size := n<<19, 8; left > 0; left -= size {
				if size *= 2; size > 4<<20 {
					size = 16
				}
				b := make([]uint64, size/8)
				for i := range b {
					b[i] = uint64(i)
				}
				if sink[g] = b; left > n<<18 && left-size <= n<<18 && g == 0 {
					settled = resident()
				}
				change()
			}
		})
	}
	wg.Wait()
	if now := resident(); now > settled*3/2+32 {
		fail("%d MiB after a half, %d MiB at the end", settled, now)
	}
}

var sink [2][]uint64

// timers has n timers that fire.
func timers(n int) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Add(1)
		v := new(int)
		*v = 1
		time.AfterFunc(time.Duration(i%100)*time.Microsecond, func() {
			defer wg.Done()
			*v++
			change()
		})
	}
	wg.Wait()
}

// readers has one variable that n goroutines read at the same time, and one writes after
// them.
func readers(n int) {
	v := new(int)
	for range 3 {
		var ready, done sync.WaitGroup
		start := make(chan bool)
		for range n {
			ready.Add(1)
			done.Go(func() {
				ready.Done()
				<-start
				if *v < 0 {
					fail("a negative number")
				}
				change()
			})
		}
		ready.Wait()
		close(start)
		done.Wait()
		*v++
	}
}

// resident returns the memory that this process has, in MiB.
func resident() int {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		fail("%v", err)
	}
	var size, pages int
	fmt.Sscan(string(data), &size, &pages)
	return pages * os.Getpagesize() >> 20
}

func fail(format string, args ...any) {
	fmt.Printf(format+"\n", args...)
	os.Exit(1)
}

func main() {
	flag.Parse()
	run := modes[flag.Arg(0)]
	n, err := strconv.Atoi(flag.Arg(1))
	if run == nil || err != nil {
		fail("usage: robust [-racy] MODE N")
	}
	run(n)
	fmt.Printf("%s %d: done, %d MiB\n", flag.Arg(0), n, resident())
}
