// Command guarded counts words in several goroutines. Every access to the
// counter holds its mutex.
//
// want: PROVED
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
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
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
