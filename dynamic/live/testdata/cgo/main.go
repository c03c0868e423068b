// Command cgo calls C, which calls back, also from a thread of its own. With an argument
// two goroutines race.
package main

/*
#cgo LDFLAGS: -lpthread
#include <pthread.h>
#include <stdlib.h>

extern void called(int);

static int twice(int n) { return 2*n; }
static void fill(char *p, int n) { for (int i = 0; i < n; i++) p[i] = i; }
static void call(int n) { called(n); }
static void *run(void *p) { called(*(int *)p); return 0; }
static void callInThread(int n) {
	pthread_t t;
	if (pthread_create(&t, 0, run, &n) == 0) {
		pthread_join(t, 0);
	}
}
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"
)

var (
	mu    sync.Mutex
	total = new(int)
	racy  = len(os.Args) > 1
)

//export called
func called(n C.int) {
	if !racy {
		mu.Lock()
		defer mu.Unlock()
	}
	*total += int(n)
	if n%100 == 0 {
		runtime.GC()
	}
}

func main() {
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				if C.twice(C.int(i)) != C.int(2*i) {
					fmt.Println("twice is wrong")
					os.Exit(1)
				}
				b := make([]byte, 64)
				C.fill((*C.char)(unsafe.Pointer(&b[0])), 64)
				p := C.malloc(64)
				c := unsafe.Slice((*byte)(p), 64)
				copy(c, b)
				if c[63] != 63 || b[g] != byte(g) {
					fmt.Println("fill is wrong")
					os.Exit(1)
				}
				C.free(p)
				if i%2 == 0 {
					C.call(C.int(i))
				} else {
					C.callInThread(C.int(i))
				}
			}
		})
	}
	wg.Wait()
	if !racy && *total != 4*199*100 {
		fmt.Println("total is", *total)
		os.Exit(1)
	}
	fmt.Println("done")
}
