package main

import "fmt"

// statistics counts what the server does. The counters are not exact.
type statistics struct {
	logins, refused   int
	uploads, fetches  int
	received, sent    int64
	removed, commands int
}

func (t *statistics) login(ok bool) {
	if ok {
		t.logins++ // want: race server.stats.logins
	} else {
		t.refused++ // want: race server.stats.refused
	}
}

func (t *statistics) upload(bytes int) {
	t.uploads++                // want: race server.stats.uploads
	t.received += int64(bytes) // want: race server.stats.received
}

func (t *statistics) fetch(bytes int) {
	t.fetches++            // want: race server.stats.fetches
	t.sent += int64(bytes) // want: race server.stats.sent
}

func (t *statistics) remove() {
	t.removed++ // want: race server.stats.removed
}

func (t *statistics) command() {
	t.commands++ // want: race server.stats.commands
}

// String is for the log.
func (t *statistics) String() string {
	return fmt.Sprintf("%d logins, %d refused, %d commands, %d files and %d bytes in, %d and %d out, %d removed",
		t.logins,   // want: race server.stats.logins
		t.refused,  // want: race server.stats.refused
		t.commands, // want: race server.stats.commands
		t.uploads,  // want: race server.stats.uploads
		t.received, // want: race server.stats.received
		t.fetches,  // want: race server.stats.fetches
		t.sent,     // want: race server.stats.sent
		t.removed)  // want: race server.stats.removed
}
