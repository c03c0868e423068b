// Command donechan waits for a goroutine by a channel that the goroutine closes
// too early: what it writes after the close may race with main.
//
// want: OPEN
package main

import "fmt"

type report struct {
	lines int
	note  string
}

func main() {
	r := &report{}
	done := make(chan struct{})
	go func() {
		r.lines = 3 // ordered before main's read by the close
		close(done)
		r.note = "written after the close" // races with main
	}()
	<-done
	fmt.Println(r.lines, r.note)
}
