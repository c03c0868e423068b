package progen

import (
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
	"testing"
	"time"
)

func TestDbg(t *testing.T) {
	a, _ := strconv.Atoi(os.Getenv("A"))
	b, _ := strconv.Atoi(os.Getenv("B"))
	if f := os.Getenv("PROF"); f != "" {
		w, _ := os.Create(f)
		pprof.StartCPUProfile(w)
		defer pprof.StopCPUProfile()
	}
	for s := a; s < b; s++ {
		p := Generate(uint64(s), Config{})
		if os.Getenv("SRC") != "" {
			fmt.Println(p.Source())
		}
		fmt.Println(s, p.Name)
		t0 := time.Now()
		r := p.Explore(20000)
		fmt.Println("   ", time.Since(t0), r.States, r.Complete, r.Racy())
		if os.Getenv("SRC") != "" {
			fmt.Println(show(p, r))
		}
	}
}
