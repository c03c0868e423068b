package main

import (
	"fmt"
	"log"
	"net"
	"slices"
	"sync"
	"time"
)

// limits of sessions.
const (
	idleLimit  = 2 * time.Second // a session that is silent for longer is closed
	checkEvery = 20 * time.Millisecond
)

// A server accepts connections, each of which gets a session.
type server struct {
	people *accounts
	files  *tree
	stats  statistics
	log    *log.Logger

	listener net.Listener
	stopping bool // set by stop, looked at by accept
	done     chan struct{}
	running  sync.WaitGroup
	limit    int // of sessions at a time

	mu       sync.Mutex
	sessions map[int]*session
	last     int // session that was opened
}

func newServer(people *accounts, files *tree, limit int, logger *log.Logger) *server {
	return &server{people: people, files: files, limit: limit, log: logger, done: make(chan struct{}), sessions: map[int]*session{}}
}

// listen opens the port and returns its address.
func (s *server) listen(addr string) (string, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", fmt.Errorf("cannot listen: %w", err)
	}
	s.listener = l
	return l.Addr().String(), nil
}

// start serves in the background.
func (s *server) start() {
	s.running.Add(2)
	go func() {
		defer s.running.Done()
		s.accept()
	}()
	go func() {
		defer s.running.Done()
		s.watch()
	}()
}

// stop closes all sessions and waits until they have ended.
func (s *server) stop() {
	s.stopping = true // want: race server.stopping
	close(s.done)
	s.listener.Close()
	for _, c := range s.open() {
		c.close("the server stops")
	}
	s.running.Wait()
	s.log.Print(s.stats.String())
}

// accept serves whoever connects.
func (s *server) accept() {
	for !s.stopping { // want: race server.stopping
		conn, err := s.listener.Accept()
		if err != nil {
			s.log.Print("accept: ", err)
			return
		}
		c := s.register(conn)
		if c == nil {
			conn.Close()
			continue
		}
		s.running.Add(1) // want: alarm server.running "who Adds is counted himself until he is done, by an Add of who started him"
		go func() {
			defer s.running.Done()
			defer s.forget(c)
			c.serve()
		}()
	}
}

// register makes a session, or none if there are too many, or the server has begun to
// close them.
func (s *server) register(conn net.Conn) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.done:
		return nil
	default:
	}
	if len(s.sessions) >= s.limit {
		return nil
	}
	s.last++
	c := newSession(s.last, s, conn)
	s.sessions[c.id] = c
	return c
}

// forget drops a session that has ended.
func (s *server) forget(c *session) {
	s.mu.Lock()
	delete(s.sessions, c.id)
	s.mu.Unlock()
}

// open lists the sessions, oldest first.
func (s *server) open() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*session
	for _, c := range s.sessions {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *session) int { return a.id - b.id })
	return list
}

// watch closes sessions that have been silent for too long, and logs how things are.
func (s *server) watch() {
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.done:
			return
		case now := <-tick.C:
			for _, c := range s.open() {
				if c.silent(now) > idleLimit {
					c.close("idle for too long")
				}
			}
			s.log.Print(s.stats.String())
		}
	}
}
