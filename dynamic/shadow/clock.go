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

//go:nosplit
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
//
//go:nosplit
func (c *clock) get(i uint32) uint64 {
	if i+1 == c.own {
		return c.v
	}
	return entryIn(c.root, c.height, i)
}

// entryIn returns the entry of slot i in a tree, 0 if it has none.
//
//go:nosplit
func entryIn(root uint64, height, i uint32) uint64 {
	if root == 0 || i>>(blockBits*(height+1)) != 0 {
		return 0
	}
	for h := height; h > 0; h-- {
		if root = blockOf(root).w[i>>(blockBits*h)%blockLen]; root == 0 {
			return 0
		}
	}
	return blockOf(root).w[i%blockLen]
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

// joinTree joins the tree o to the one that *at leads to, both of that height. It looks
// before it changes anything: to change a block takes a reference to each below it. Where
// one of two subtrees has all that the other has, it is taken for both, so the clocks
// share it and those who come after need not compare it again.
func joinTree(s *State, at *uint64, o uint64, height uint32) {
	var mine, theirs [levels]*block
	var both [levels]uint32 // children with entries that are less, and some that are more
	if o == 0 || *at == o {
		return
	}
	if *at == 0 {
		*at = share(o)
		return
	}
	if height == 0 {
		joinLeaf(s, at, o)
		return
	}
	h := height
	for {
		less, more := compareChildren(blockOf(*at), blockOf(o), h)
		both[h] = 0
		switch {
		case more == 0:
		case less == 0:
			replace(s, at, o, h)
		default:
			mine[h], theirs[h], both[h] = exclusive(s, at, h), blockOf(o), less&more
			for i := range mine[h].w {
				if (more&^less)>>i&1 != 0 {
					replace(s, &mine[h].w[i], theirs[h].w[i], h-1)
				}
			}
		}
		for {
			for both[h] == 0 {
				if h == height {
					return
				}
				h++
			}
			i := trailing(both[h])
			both[h] &= both[h] - 1
			at, o = &mine[h].w[i], theirs[h].w[i]
			if h > 1 {
				break
			}
			joinLeaf(s, at, o)
		}
		h--
	}
}

// trailing returns the number of the lowest bit of m, which is not 0.
func trailing(m uint32) (n uint32) {
	for ; m&1 == 0; m >>= 1 {
		n++
	}
	return n
}

// compareChildren reports of each child of two blocks of that height, not leaves, whether
// some entry is less in o than in a, and whether some is more. A child that is the same
// takes one step.
func compareChildren(a, o *block, height uint32) (less, more uint32) {
	for i, w := range &o.w {
		m := a.w[i]
		switch {
		case m == w:
		case w == 0: // or m is all zeros: then this is safe, as is what follows
			less |= 1 << i
		case m == 0:
			more |= 1 << i
		default:
			l, g := uint32(0), uint32(0)
			if height == 1 {
				l, g = compareLeaves(blockOf(m), blockOf(w))
			} else {
				l, g = compareTrees(blockOf(m), blockOf(w), height-1)
			}
			less |= l << i
			more |= g << i
		}
	}
	return less, more
}

// compareTrees is compareChildren for the whole of two trees, as one bit.
func compareTrees(a, o *block, height uint32) (less, more uint32) {
	var mine, theirs [levels]*block
	var next [levels]uint32
	h := height
	mine[h], theirs[h], next[h] = a, o, 0
	for less&more == 0 {
		if next[h] == blockLen {
			if h == height {
				break
			}
			h++
			continue
		}
		m, w := mine[h].w[next[h]], theirs[h].w[next[h]]
		next[h]++
		switch {
		case m == w:
		case w == 0:
			less = 1
		case m == 0:
			more = 1
		case h == 1:
			l, g := compareLeaves(blockOf(m), blockOf(w))
			less |= l
			more |= g
		default:
			h--
			mine[h], theirs[h], next[h] = blockOf(m), blockOf(w), 0
		}
	}
	return less, more
}

// compareLeaves is compareTrees for leaves. Entries are less than 1<<63.
func compareLeaves(a, o *block) (less, more uint32) {
	l, g := uint64(0), uint64(0)
	for i, v := range &o.w { // which copies nothing
		l |= v - a.w[i]
		g |= a.w[i] - v
	}
	return uint32(l >> 63), uint32(g >> 63)
}

// replace makes *at lead to the tree o in place of what it leads to, both of that height.
func replace(s *State, at *uint64, o uint64, height uint32) {
	share(o)
	dropTree(s, *at, height)
	*at = o
}

// joinLeaf joins the leaf o to the one that *at leads to.
func joinLeaf(s *State, at *uint64, o uint64) {
	less, more := compareLeaves(blockOf(*at), blockOf(o))
	switch {
	case more == 0:
	case less == 0:
		replace(s, at, o, 0)
	default:
		a := exclusive(s, at, 0)
		for i, v := range blockOf(o).w {
			if a.w[i] < v {
				a.w[i] = v
			}
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
