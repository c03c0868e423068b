package shadow

import "unsafe"

// clock is a vector of clocks by slot. It is a tree whose blocks are shared with other
// clocks that say the same, so that a clock costs what it differs in, not what it
// says: a program may have thousands of goroutines that nobody waits for, and each of
// them, and each mutex that one of them has locked, has a clock with all of them.
//
// The owner's own entry is kept apart. It changes at each release, and blocks that
// were just shared would have to be copied for it. Nobody knows more of it than the
// owner.
type clock struct {
	root   uint64 // address of a block, or 0
	height uint32 // of the tree: a root of height h has entries for 16^(h+1) slots
	own    uint32 // the owner's slot plus 1, or 0
	v      uint64 // its entry, whatever the tree says
}

// block holds 16 entries or, above the leaves, addresses of blocks. One with several
// references does not change.
type block struct {
	_    notInHeap
	refs uint32
	w    [blockLen]uint64
}

const (
	blockBits = 4
	blockLen  = 1 << blockBits
	levels    = 4 // 16^4 is more than MaxSlots
)

func blockOf(w uint64) *block { return (*block)(pointer(uintptr(w))) }

func newBlock(s *State) *block {
	b := (*block)(alloc(s, poolClocks, unsafe.Sizeof(block{})))
	b.refs = 1
	return b
}

// share returns w after counting one more reference to its block.
func share(w uint64) uint64 {
	if w != 0 {
		add32(&blockOf(w).refs, 1)
	}
	return w
}

// exclusive makes the block that *at leads to, of that height, one that only *at leads
// to, and returns it.
func exclusive(s *State, at *uint64, height uint32) *block {
	if *at == 0 {
		b := newBlock(s)
		*at = uint64(uintptr(unsafe.Pointer(b)))
		return b
	}
	old := blockOf(*at)
	if load32(&old.refs) == 1 {
		return old
	}
	b := newBlock(s)
	b.w = old.w
	if height > 0 {
		for _, w := range b.w {
			share(w)
		}
	}
	dropTree(s, *at, height)
	*at = uint64(uintptr(unsafe.Pointer(b)))
	return b
}

// dropTree gives up one reference to a tree.
func dropTree(s *State, root uint64, height uint32) {
	var path [levels]*block // blocks without references, down to the current one
	var next [levels]uint32 // which child of each comes next
	if root == 0 || add32(&blockOf(root).refs, -1) != 0 {
		return
	}
	h := height
	path[h], next[h] = blockOf(root), 0
	for {
		b := path[h]
		if h > 0 && next[h] < blockLen {
			w := b.w[next[h]]
			next[h]++
			if w != 0 && add32(&blockOf(w).refs, -1) == 0 {
				h--
				path[h], next[h] = blockOf(w), 0
			}
			continue
		}
		free(s, poolClocks, unsafe.Pointer(b), unsafe.Sizeof(block{}))
		if h == height {
			return
		}
		h++
	}
}

// get returns the entry of slot i.
func (c *clock) get(i uint32) uint64 {
	if i+1 == c.own {
		return c.v
	}
	if c.root == 0 || i>>(blockBits*(c.height+1)) != 0 {
		return 0
	}
	w := c.root
	for h := c.height; h > 0; h-- {
		if w = blockOf(w).w[i>>(blockBits*h)%blockLen]; w == 0 {
			return 0
		}
	}
	return blockOf(w).w[i%blockLen]
}

// raise makes the tree at least so high.
func (c *clock) raise(s *State, height uint32) {
	for c.height < height {
		if c.root != 0 {
			b := newBlock(s)
			b.w[0] = c.root
			c.root = uint64(uintptr(unsafe.Pointer(b)))
		}
		c.height++
	}
}

// put makes the entry of slot i in the tree at least v.
func (c *clock) put(s *State, i uint32, v uint64) {
	h := uint32(0)
	for i>>(blockBits*(h+1)) != 0 {
		h++
	}
	c.raise(s, h)
	at := &c.root
	for h = c.height; h > 0; h-- {
		at = &exclusive(s, at, h).w[i>>(blockBits*h)%blockLen]
	}
	if b := exclusive(s, at, 0); b.w[i%blockLen] < v {
		b.w[i%blockLen] = v
	}
}

// advance makes the entry of slot i at least v.
func (c *clock) advance(s *State, i uint32, v uint64) {
	switch {
	case c.get(i) >= v:
	case i+1 == c.own:
		c.v = v
	default:
		c.put(s, i, v)
	}
}

// join makes c the least upper bound of c and o.
func (c *clock) join(s *State, o *clock) {
	switch {
	case o.root == 0 || o.root == c.root && o.height == c.height:
	case c.root == 0:
		c.root, c.height = share(o.root), o.height
	default:
		c.raise(s, o.height)
		at := &c.root
		for h := c.height; h > o.height; h-- {
			at = &exclusive(s, at, h).w[0]
		}
		joinTree(s, at, o.root, o.height)
	}
	if o.own != 0 {
		c.advance(s, o.own-1, o.v)
	}
}

// joinTree joins the tree o to the one that *at leads to, both of that height. Parts that
// are the same, or that only o has, take one step, and parts that say the same become
// the same.
func joinTree(s *State, at *uint64, o uint64, height uint32) {
	var mine, theirs [levels]*block
	var leads [levels]*uint64 // to mine
	var next [levels]uint32
	switch {
	case *at == o:
		return
	case *at == 0:
		*at = share(o)
		return
	case height == 0:
		joinLeaf(s, at, blockOf(o))
		return
	}
	h := height
	leads[h], mine[h], theirs[h], next[h] = at, exclusive(s, at, h), blockOf(o), 0
	for {
		if next[h] == blockLen {
			if mine[h].w == theirs[h].w {
				adopt(s, leads[h], theirs[h], h)
			}
			if h == height {
				return
			}
			h++
			continue
		}
		w, m := theirs[h].w[next[h]], &mine[h].w[next[h]]
		next[h]++
		switch {
		case w == 0 || w == *m:
		case *m == 0:
			*m = share(w)
		case h == 1:
			joinLeaf(s, m, blockOf(w))
		default:
			h--
			leads[h], mine[h], theirs[h], next[h] = m, exclusive(s, m, h), blockOf(w), 0
		}
	}
}

// adopt makes *at lead to b in place of what it leads to, both of that height.
func adopt(s *State, at *uint64, b *block, height uint32) {
	w := share(uint64(uintptr(unsafe.Pointer(b))))
	dropTree(s, *at, height)
	*at = w
}

// joinLeaf joins the leaf o to the one that *at leads to.
func joinLeaf(s *State, at *uint64, o *block) {
	a := blockOf(*at)
	more, less := false, false
	for i := range o.w {
		more = more || o.w[i] > a.w[i]
		less = less || o.w[i] < a.w[i]
	}
	switch {
	case !less && (!more || load32(&a.refs) != 1):
		adopt(s, at, o, 0)
		return
	case !more:
		return
	}
	a = exclusive(s, at, 0)
	for i, v := range o.w {
		if a.w[i] < v {
			a.w[i] = v
		}
	}
}

// fold puts the owner's entry into the tree too.
func (c *clock) fold(s *State) {
	if c.own != 0 {
		c.put(s, c.own-1, c.v)
	}
}

// copyFrom makes c equal to o.
func (c *clock) copyFrom(s *State, o *clock) {
	if c.root != o.root {
		share(o.root)
		dropTree(s, c.root, c.height)
	}
	c.root, c.height, c.own, c.v = o.root, o.height, o.own, o.v
}

// release makes c empty.
func (c *clock) release(s *State) {
	dropTree(s, c.root, c.height)
	c.root, c.height, c.own, c.v = 0, 0, 0, 0
}
