package shadow

// Kinds of access.
const (
	Read        = 0 // plain read
	Write       = 1 // plain write
	AtomicRead  = 2
	AtomicWrite = 3 // also what reads and writes in one step
)

// An epoch is the slot of a goroutine and its clock: slot<<48 | clock. 0 is no
// access. Bit 63 is free in epochs, and marks words that hold a pointer.
const (
	slotShift = 48
	clockMask = 1<<slotShift - 1
	special   = 1 << 63
	MaxSlots  = 1 << 15 // most goroutines that have a clock of their own
	noSlot    = ^uint32(0)
)

// Options say what a State does. The zero value is FastTrack.
type Options struct {
	Arrays bool   // arrays have partitions (SlimState); else each byte has its cell
	Firsts bool   // the first byte of each word has its own cell; see page
	Slots  uint32 // goroutines with a clock of their own; 0 is MaxSlots
	Memory uint64 // bytes to take from the system at most; 0 is no limit
}

// State is all that is known about a run. Its zero value is not ready; see New.
type State struct {
	top    [topLen]*midNode // the page table
	arrays bool
	firsts bool
	rows   bool // rows of words have cells; see row.go
	slots  uint32

	memLock uint32
	cur     uintptr // free part of the current block: addresses
	end     uintptr
	block   uintptr // size of the next block
	pools   [nPools][nClasses]*freeBlock
	idle    *syncObj // objects that belong to no address

	slotLock  uint32
	final     list // by slot: the last clock of its goroutine, once that ended
	freeSlots list // a stack of slots whose goroutine ended
	threads   *Thread
	uncovered uint32 // there was an Uncovered; see Stats

	addLock  uint32 // one AddArray at a time
	arrLock  uint32
	arrDir   [arrDirLen]*arrBlock
	arrCount uint32 // ids handed out: 1..arrCount
	arrFree  *Array
	total    Stats // of goroutines that ended

	home *home
}

// Stats count what happened. Threads count for themselves; see State.Stats.
type Stats struct {
	Checks     uint64 // cells that were compared: operations on shadow locations
	Locations  uint64 // cells that came into use
	Footprints uint64 // footprints committed
	Refined    uint64 // partitions refined
	Splits     uint64 // cells split because an access covered a part
	Shared     uint64 // cells whose reads became a vector

	// What may be missed.
	Uncovered uint64 // slots reused although the parent did not cover their last goroutine
	Slotless  uint64 // goroutines without a slot
	Ignored   uint64 // accesses of such goroutines
	Races     uint64 // reports
}

// add adds o to s.
func (s *Stats) add(o *Stats) {
	s.Checks += o.Checks
	s.Locations += o.Locations
	s.Footprints += o.Footprints
	s.Refined += o.Refined
	s.Splits += o.Splits
	s.Shared += o.Shared
	s.Uncovered += o.Uncovered
	s.Slotless += o.Slotless
	s.Ignored += o.Ignored
	s.Races += o.Races
}

// Stats returns the counts of the whole run. Goroutines that run meanwhile may
// be counted in part.
func (s *State) Stats() (n Stats) {
	lock(&s.slotLock)
	n = s.total
	for t := s.threads; t != nil; t = t.next {
		n.add(&t.stat)
	}
	unlock(&s.slotLock)
	return n
}

// Race is one report: elements Lo, Lo+Stride, ... (Count of them, Size bytes
// each) were accessed by Thread at Site, and by the goroutine that owns PrevEpoch,
// at PrevSite, and neither access happens before the other.
type Race struct {
	Lo, Size, Stride, Count uintptr
	Kind, PrevKind          uint8
	Thread                  uint64 // ID of the goroutine
	Epoch, PrevEpoch        uint64
	Site, PrevSite          uint32
}

// Slot returns the slot in an epoch.
func Slot(epoch uint64) uint32 { return uint32(epoch &^ special >> slotShift) }

// Clock returns the clock in an epoch.
func Clock(epoch uint64) uint64 { return epoch & clockMask }

// lock takes a spin lock. Holders do a bounded amount of work and take no lock
// that is taken before theirs; the order is: addLock, array, page, synchronisation
// object, slots, ids of arrays, memory.
func lock(p *uint32) {
	for n := 0; load32(p) != 0 || !cas32(p, 0, 1); n++ {
		pause(n)
	}
}

//go:nosplit
func unlock(p *uint32) { release32(p, 0) }

func initState(s *State, o Options) {
	if ^uintptr(0)>>63 == 0 {
		fatal("shadow needs addresses of 64 bits")
	}
	s.arrays, s.firsts = o.Arrays, o.Firsts
	s.rows = o.Firsts && !o.Arrays
	s.slots = o.Slots
	if s.slots == 0 || s.slots > MaxSlots {
		s.slots = MaxSlots
	}
	s.block = 64 << 10
}

// report hands a race on size bytes at lo to the State's owner. A part of an
// array that is not one range says so in t.stride and t.count.
func report(s *State, t *Thread, kind uint8, lo, size uintptr, site uint32, prev uint64, prevKind uint8, prevSite uint32) {
	t.stat.Races++
	r := &t.race
	r.Lo, r.Size, r.Stride, r.Count = lo, size, t.stride, t.count
	r.Kind, r.PrevKind = kind, prevKind
	r.Thread, r.Epoch, r.PrevEpoch = t.id, t.epoch, prev
	r.Site, r.PrevSite = site, prevSite
	sysReport(s, r)
}

func gcd(a, b uintptr) uintptr {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
