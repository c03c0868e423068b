// The program of the examples of package pta.
package main

type node struct {
	val  *int
	next *node
}

func newNode(v *int) *node {
	return &node{val: v}
}

type visitor interface{ visit(*node) }

type counter struct{ n int }

func (c *counter) visit(*node) { c.n++ }

type keeper struct{ last *node }

func (k *keeper) visit(n *node) { k.last = n }

func walk(n *node, v visitor) {
	for ; n != nil; n = n.next {
		v.visit(n)
	}
}

func main() {
	x, y := new(int), new(int)
	a, b := newNode(x), newNode(y)
	first := a.val
	second := b.val
	_, _ = first, second
	b.next = a
	k := &keeper{}
	walk(b, k)
	_ = k.last
}
