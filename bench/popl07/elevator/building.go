package main

import "sync"

// direction is where a lift goes, or a rider wants to go.
type direction int

const (
	down direction = -1
	idle direction = 0
	up   direction = 1
)

func (d direction) String() string {
	return map[direction]string{down: "down", idle: "nowhere", up: "up"}[d]
}

// toward returns the direction from one floor to another.
func toward(from, to int) direction {
	switch {
	case to > from:
		return up
	case to < from:
		return down
	}
	return idle
}

// A floor is where riders wait, those who want up apart from those who want down.
type floor struct {
	mu            sync.Mutex
	goUp, goDown  []rider
	doorsOpenFor  int // lifts that stand here
	boarded, left int // riders, ever
}

// wait adds a rider, and reports whether nobody has pressed the button yet.
func (f *floor) wait(d direction, r rider) (first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d == up {
		f.goUp = append(f.goUp, r)
		return len(f.goUp) == 1
	}
	f.goDown = append(f.goDown, r)
	return len(f.goDown) == 1
}

// arrive opens the doors for a lift and has riders leave.
func (f *floor) arrive(riders int) {
	f.mu.Lock()
	f.doorsOpenFor++
	f.left += riders
	f.mu.Unlock()
}

// depart closes the doors.
func (f *floor) depart() {
	f.mu.Lock()
	f.doorsOpenFor--
	f.mu.Unlock()
}

// board takes the first of those who want to go in a direction; ok is false if there
// is none. more tells whether others go on waiting.
func (f *floor) board(d direction) (r rider, ok, more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d == up {
		r, ok, f.goUp = first(f.goUp)
		more = len(f.goUp) > 0
	} else {
		r, ok, f.goDown = first(f.goDown)
		more = len(f.goDown) > 0
	}
	if ok {
		f.boarded++
	}
	return r, ok, more
}

// first takes the first rider off a queue, if there is one.
func first(queue []rider) (r rider, ok bool, rest []rider) {
	if len(queue) == 0 {
		return rider{}, false, queue
	}
	return queue[0], true, queue[1:] // want: alarm floor "a function gives back part of its argument, which is stored where that came from: seen within one function alone"
}

// A call is a button that somebody has pressed.
type call struct {
	floor int
	dir   direction
}

// A building has floors, and controls that tell which lift goes where.
type building struct {
	floors  []*floor
	journal *journal

	mu      sync.Mutex
	pressed *sync.Cond
	calls   []call // that no lift goes for yet, oldest first
	closed  bool   // nobody comes any more
}

func newBuilding(floors int, j *journal) *building {
	b := &building{journal: j}
	b.pressed = sync.NewCond(&b.mu)
	for range floors {
		b.floors = append(b.floors, &floor{})
	}
	return b
}

// press has a rider wait on a floor, and calls a lift if none was called.
func (b *building) press(from int, r rider) {
	d := toward(from, r.to)
	b.journal.printf("rider %d waits on floor %d for floor %d", r.id, from, r.to)
	if b.floors[from].wait(d, r) {
		b.call(from, d)
	}
}

// call asks for a lift.
func (b *building) call(floor int, d direction) {
	b.mu.Lock()
	b.calls = append(b.calls, call{floor, d})
	b.mu.Unlock()
	b.pressed.Signal()
}

// close says that nobody comes any more.
func (b *building) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.pressed.Broadcast()
}

// next waits for a call and gives that which is nearest to a floor; ok is false
// when there will be none.
func (b *building) next(from int) (c call, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.calls) == 0 {
		if b.closed {
			return call{}, false
		}
		b.pressed.Wait()
	}
	best := 0
	for i, c := range b.calls {
		if distance(c.floor, from) < distance(b.calls[best].floor, from) {
			best = i
		}
	}
	return b.take(best), true
}

// onTheWay gives the call of a floor in a direction, if no lift goes for it yet.
func (b *building) onTheWay(at int, d direction) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, c := range b.calls {
		if c.floor == at && c.dir == d {
			b.take(i)
			return true
		}
	}
	return false
}

// take removes a call; the caller holds mu.
func (b *building) take(i int) call {
	c := b.calls[i]
	b.calls = append(b.calls[:i], b.calls[i+1:]...)
	return c
}

func distance(a, b int) int { return max(a-b, b-a) }
