package main

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// A node is a folder or a file.
type node struct {
	children map[string]*node // of a folder; nil for a file
	data     string
	changed  time.Time
}

// A tree is the files of the server.
type tree struct {
	mu   sync.RWMutex
	root *node
}

var (
	errNone   = errors.New("there is no such file")
	errFolder = errors.New("that is a folder")
	errFile   = errors.New("that is no folder")
	errExists = errors.New("there is one already")
	errInUse  = errors.New("the folder is not empty")
)

func newTree() *tree { return &tree{root: newFolder()} }

func newFolder() *node { return &node{children: map[string]*node{}, changed: time.Now()} }

// find returns the node at a path; the caller holds mu.
func (t *tree) find(name string) (*node, error) {
	dir, base := path.Split(path.Clean("/" + name))
	if base == "" {
		return t.root, nil
	}
	parent, err := t.find(dir)
	if err != nil {
		return nil, err
	}
	if parent.children == nil {
		return nil, errFile
	}
	n := parent.children[base]
	if n == nil {
		return nil, errNone
	}
	return n, nil
}

// parent returns the folder that a path lies in, and its name there; the caller
// holds mu.
func (t *tree) parent(name string) (*node, string, error) {
	dir, base := path.Split(path.Clean("/" + name))
	if base == "" {
		return nil, "", errExists
	}
	n, err := t.find(dir)
	if err == nil && n.children == nil {
		err = errFile
	}
	return n, base, err
}

// write makes a file or replaces what it holds.
func (t *tree) write(name, data string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	dir, base, err := t.parent(name)
	if err != nil {
		return err
	}
	old := dir.children[base]
	if old == nil {
		dir.children[base] = &node{data: data, changed: time.Now()}
		return nil
	}
	if old.children != nil {
		return errFolder
	}
	old.data, old.changed = data, time.Now()
	return nil
}

// read returns what a file holds.
func (t *tree) read(name string) (string, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n, err := t.find(name)
	if err != nil {
		return "", err
	}
	if n.children != nil {
		return "", errFolder
	}
	return n.data, nil
}

// mkdir makes a folder.
func (t *tree) mkdir(name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	dir, base, err := t.parent(name)
	if err != nil {
		return err
	}
	if dir.children[base] != nil {
		return errExists
	}
	dir.children[base] = newFolder()
	dir.changed = time.Now()
	return nil
}

// remove deletes a file, or a folder with nothing in it.
func (t *tree) remove(name string, folder bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	dir, base, err := t.parent(name)
	if err != nil {
		return err
	}
	n := dir.children[base]
	switch {
	case n == nil:
		return errNone
	case folder && n.children == nil:
		return errFile
	case !folder && n.children != nil:
		return errFolder
	case len(n.children) > 0:
		return errInUse
	}
	delete(dir.children, base)
	dir.changed = time.Now()
	return nil
}

// rename moves a file or folder to where nothing is.
func (t *tree) rename(from, to string) error {
	if inside := path.Clean("/"+to) + "/"; strings.HasPrefix(inside, path.Clean("/"+from)+"/") {
		return errExists
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	a, x, err := t.parent(from)
	if err != nil {
		return err
	}
	b, y, err := t.parent(to)
	if err != nil {
		return err
	}
	if a.children[x] == nil {
		return errNone
	}
	if b.children[y] != nil {
		return errExists
	}
	b.children[y] = a.children[x]
	delete(a.children, x)
	return nil
}

// isFolder reports whether a path leads to a folder.
func (t *tree) isFolder(name string) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n, err := t.find(name)
	return err == nil && n.children != nil
}

// list returns a line for each node in a folder, as ls does.
func (t *tree) list(name string, long bool) ([]string, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n, err := t.find(name)
	if err != nil {
		return nil, err
	}
	if n.children == nil {
		return []string{line(path.Base(name), n, long)}, nil
	}
	var lines []string
	for _, base := range slices.Sorted(maps.Keys(n.children)) {
		lines = append(lines, line(base, n.children[base], long))
	}
	return lines, nil
}

// size returns how many files there are, and how much they hold.
func (t *tree) size() (files, bytes int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.root.size()
}

// size is tree.size below a node; the caller holds the tree's lock.
func (n *node) size() (files, bytes int) {
	if n.children == nil {
		return 1, len(n.data)
	}
	for _, c := range n.children {
		f, b := c.size()
		files, bytes = files+f, bytes+b
	}
	return files, bytes
}

// line describes a node; the caller holds the tree's lock.
func line(base string, n *node, long bool) string {
	if !long {
		return base
	}
	kind := '-'
	if n.children != nil {
		kind = 'd'
	}
	return fmt.Sprintf("%crw-r--r-- 1 ftp ftp %10d %s %s", kind, len(n.data), n.changed.Format("Jan _2 15:04"), base)
}
