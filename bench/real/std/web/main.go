package main

import (
	"fmt"
	"net/http"
	"sync"
)

type counter struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[r.URL.Path]++
	fmt.Fprintln(w, c.n[r.URL.Path])
}

func main() {
	c := &counter{n: map[string]int{}}
	http.Handle("/", c)
	http.ListenAndServe("127.0.0.1:8080", nil)
}
