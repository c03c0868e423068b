// Command forkjoin squares a number in a goroutine without a lock. Main reads the
// result after the goroutine is done.
//
// want: PROVED
package main

import (
	"fmt"
	"sync"
)

type task struct{ in, out int }

func main() {
	var wg sync.WaitGroup
	t := &task{in: 7}
	wg.Add(1)
	go func() {
		defer wg.Done()
		t.out = t.in * t.in
	}()
	wg.Wait()
	fmt.Println(t.out)
}
