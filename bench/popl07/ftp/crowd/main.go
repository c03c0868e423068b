// Command crowd puts load on the file server of the folder above, which it starts.
//
//	go run ./bench/popl07/ftp/crowd [-workers N] [-size N] [COMMAND ...]
//
// COMMAND starts the server, as in
//
//	go run ./bench/popl07/ftp/crowd go run -race ./bench/popl07/ftp
//
// Each client logs in, makes a folder, stores files in it, lists it, fetches what it
// stored, renames and deletes. One more falls silent until the server closes its
// session; others come and go until the server stops. What was stored and fetched is
// printed, and what the server keeps. crowd fails if that is not what was to be.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// load is what the clients do together.
type load struct {
	mu             sync.Mutex
	stored, loaded int64 // bytes
	failed         []error
}

// add counts what one client has done.
func (l *load) add(stored, loaded int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stored += stored
	l.loaded += loaded
	if err != nil {
		l.failed = append(l.failed, err)
	}
}

// guests is how many clients come and go.
const guests = 4

// run has so many clients store so many files each, and stops the server.
func run(addr string, clients, files int, stop func()) *load {
	sum := &load{}
	var working, coming sync.WaitGroup
	for range guests {
		coming.Go(func() { restless(addr) })
	}
	for i := range clients {
		working.Go(func() { sum.add(work(addr, i, files)) })
	}
	working.Go(func() { sum.add(0, 0, idle(addr)) })
	working.Wait()
	stop()
	coming.Wait()
	return sum
}

// serve starts the server, has use use it, and returns what it says in the end.
func serve(command []string, use func(addr string, stop func())) (string, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	out := bufio.NewReader(pipe)
	if addr, err := out.ReadString('\n'); err == nil {
		use(strings.TrimSpace(addr), func() { in.Close() })
	}
	last, err := io.ReadAll(out)
	if werr := cmd.Wait(); werr != nil {
		err = fmt.Errorf("%s: %w", strings.Join(command, " "), werr)
	}
	return string(last), err
}

func main() {
	clients := flag.Int("workers", 4, "clients, up to 8")
	files := flag.Int("size", 20, "files that each stores")
	flag.Parse()
	if *clients < 1 || *clients > 8 || *files < 1 {
		fmt.Fprintln(os.Stderr, "crowd: there are 1 to 8 clients, and one file at least")
		os.Exit(2)
	}
	command := flag.Args()
	if len(command) == 0 {
		command = []string{"go", "run", "github.com/bfverify/bfverify/bench/popl07/ftp"}
	}
	var sum *load
	kept, err := serve(command, func(addr string, stop func()) { sum = run(addr, *clients, *files, stop) })
	if sum == nil {
		fmt.Fprintln(os.Stderr, "crowd: the server does not start:", err)
		os.Exit(1)
	}
	fmt.Printf("stored %d bytes, fetched %d; the server keeps %s", sum.stored, sum.loaded, kept)
	for _, err := range sum.failed {
		fmt.Fprintln(os.Stderr, "crowd:", err)
	}
	all, even := int64(0), int64(0)
	for i := range *files {
		all += int64(len(content(i)))
		if i%2 == 0 {
			even += int64(len(content(i)))
		}
	}
	n := int64(*clients)
	want := fmt.Sprintf("%d files, %d bytes\n", n*int64((*files+1)/2), n*even)
	if err != nil || sum.stored != n*all || sum.loaded != n*all || kept != want || len(sum.failed) > 0 {
		fmt.Fprintf(os.Stderr, "crowd: that should be %d bytes each, and %s(%v)\n", n*all, want, err)
		os.Exit(1)
	}
}
