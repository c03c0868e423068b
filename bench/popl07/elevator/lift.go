package main

// room is how many riders a lift holds.
const room = 4

// A lift is a goroutine; nobody else touches it until that has ended.
type lift struct {
	id    int
	home  *building
	clock clock

	at     int
	dir    direction
	aboard int
	leave  map[int]int // by floor, riders aboard who leave there
	done   totals
}

func newLift(id int, b *building, c clock) *lift {
	return &lift{id: id, home: b, clock: c, at: id % len(b.floors), leave: map[int]int{}}
}

// run answers calls until there are no more.
func (l *lift) run() {
	for {
		c, ok := l.home.next(l.at)
		if !ok {
			l.home.journal.printf("lift %d is done", l.id)
			return
		}
		for l.at != c.floor {
			l.move(toward(l.at, c.floor))
		}
		l.dir = c.dir
		l.stop(true)
		for l.aboard > 0 {
			l.move(l.dir)
			called := l.aboard < room && l.home.onTheWay(l.at, l.dir)
			if called || l.leave[l.at] > 0 {
				l.stop(called)
			}
		}
		l.dir = idle
	}
}

// move goes to the next floor.
func (l *lift) move(d direction) {
	l.clock.pass()
	l.at += int(d)
	if d == up {
		l.done.up += l.aboard
	} else {
		l.done.down += l.aboard
	}
}

// stop lets riders leave and, where the lift was called, board.
func (l *lift) stop(called bool) {
	f := l.home.floors[l.at]
	out := l.leave[l.at]
	delete(l.leave, l.at)
	f.arrive(out)
	l.aboard -= out
	l.done.riders += out
	in := 0
	more := called
	for more && l.aboard < room {
		var r rider
		var ok bool
		if r, ok, more = f.board(l.dir); ok {
			l.leave[r.to]++
			l.aboard++
			in++
		}
	}
	l.clock.pass()
	f.depart()
	l.home.journal.printf("lift %d goes %v at floor %d: %d leave, %d board", l.id, l.dir, l.at, out, in)
	if more { // the lift is full, and others wait for one
		l.home.call(l.at, l.dir)
	}
}
