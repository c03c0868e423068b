// Command missinglock is guarded with one lock missing: value reads the counter
// without holding its mutex.
//
// want: OPEN
package main

import (
	"fmt"
	"strings"
	"sync"
)

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += n
}

func (c *counter) value() int {
	return c.n // races with add
}

func main() {
	c := &counter{}
	done := make(chan bool)
	for _, line := range []string{"the quick brown fox", "jumps over", "the lazy dog"} {
		go func() {
			c.add(len(strings.Fields(line)))
			done <- true
		}()
	}
	fmt.Println("so far:", c.value())
	for range 3 {
		<-done
	}
	fmt.Println("in all:", c.value())
}
