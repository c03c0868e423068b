// Command ftp is a file server that speaks a part of FTP (RFC 959), over memory
// instead of a disk.
//
//	go run ./bench/popl07/ftp [-addr HOST:PORT] [-workers N] [-size N] [-v]
//
// It prints the address at which it listens, serves until its standard input ends,
// and prints what it keeps then. The accounts are user0 to userN with the passwords
// pass0 to passN, and anonymous. The command crowd below this folder starts a server,
// puts load on it, and checks what it says.
//
// The shape is that of Apache's FTP server as of POPL'07, with its kinds of race:
// sessions are closed from outside while they run, statistics are counted without a
// lock, and a flag tells that the server stops.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "where to listen")
	sessions := flag.Int("workers", 64, "sessions at a time")
	users := flag.Int("size", 8, "accounts besides anonymous")
	verbose := flag.Bool("v", false, "log to stderr")
	flag.Parse()
	if *sessions < 1 || *users < 0 {
		fmt.Fprintln(os.Stderr, "ftp: there is one session at least, and no less than no account")
		os.Exit(2)
	}
	logger := log.New(io.Discard, "ftp ", log.Lmicroseconds)
	if *verbose {
		logger.SetOutput(os.Stderr)
	}
	people := newAccounts()
	people.add("anonymous", "", "/")
	for i := range *users {
		people.add(fmt.Sprint("user", i), fmt.Sprint("pass", i), "/")
	}
	files := newTree()
	srv := newServer(people, files, *sessions, logger)
	at, err := srv.listen(*addr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "ftp:", err)
		os.Exit(1)
	}
	fmt.Println(at)
	srv.start()
	io.Copy(io.Discard, os.Stdin)
	srv.stop()
	n, bytes := files.size()
	fmt.Printf("%d files, %d bytes\n", n, bytes)
}
