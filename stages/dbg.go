package stages

import (
	"fmt"
	"os"
)

func (r *run) dbg() {
	for t := range r.v.Threads {
		th := &r.v.Threads[t]
		n := "main"
		if th.Spawner != 0 {
			n = r.v.Res.Func(th.Spawner).Name + " -> " + r.v.Res.Func(th.Entry).Name
		}
		k := 0
		for i := range r.v.Res.Insts {
			if th.Reach.Has(i) {
				k++
			}
		}
		fmt.Println("THREAD", t, n, "single", th.Single, "reach", k)
	}
}

var dbgOn = os.Getenv("BFDBG") != ""
