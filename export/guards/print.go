package guards

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/bfverify/bfverify/export"
)

// maxWithout is how many accesses without the lock the text lists of one location.
const maxWithout = 10

// Text prints a list for people, in the compiler's form. Of the accesses without the
// lock it shows those that no other lock guards:
//
//	main.go:12:2: m.counter.n is guarded by m.counter.mu at 14 of 15 shared accesses
//	    main.go:40:9: read in m.(*counter).peek, holding no lock; in an open pair
func Text(w io.Writer, list []Guarded) error {
	b := bufio.NewWriter(w)
	ranks := [3]int{}
	for i := range list {
		g := &list[i]
		ranks[g.Rank()]++
		pos := g.Pos
		if pos.Line == 0 && len(g.Without) > 0 {
			pos = g.Without[0].Pos
		}
		if pos.Line > 0 {
			fmt.Fprintf(b, "%s:%d:%d: ", pos.File, pos.Line, pos.Col)
		}
		fmt.Fprintf(b, "%s is guarded by %s at %s", g.Location, g.Lock.text(), share(g.Held, g.Shared))
		for _, o := range g.Others {
			fmt.Fprintf(b, ", by %s at %d", o.Lock.text(), o.Held)
		}
		switch {
		case g.Private == 1:
			fmt.Fprint(b, " (1 more is not shared)")
		case g.Private > 1:
			fmt.Fprintf(b, " (%d more are not shared)", g.Private)
		}
		fmt.Fprintln(b)
		left := maxWithout
		for _, a := range g.Without {
			if !a.bare() {
				continue
			}
			if left--; left < 0 {
				fmt.Fprintf(b, "    and more (list them with -json)\n")
				break
			}
			locks := "no lock"
			if len(a.Locks) > 0 {
				locks = strings.Join(a.Locks, ", ")
			}
			open := ""
			if a.Open {
				open = "; in an open pair"
			}
			fmt.Fprintf(b, "    %s:%d:%d: %s in %s, holding %s%s\n", a.Pos.File, a.Pos.Line, a.Pos.Col, a.Op, a.Func, locks, open)
		}
	}
	switch {
	case len(list) == 0:
		fmt.Fprintln(b, "no lock is held at any shared access to a field or a package variable")
	default:
		fmt.Fprintf(b, "%d guarded at all shared accesses, %d at most, %d at no more than half\n", ranks[1], ranks[0], ranks[2])
	}
	return b.Flush()
}

// share is "14 of 15 shared accesses", or "all 15 ...".
func share(n, m int) string {
	switch {
	case m == 1:
		return "its one shared access"
	case n == m:
		return fmt.Sprintf("all %d shared accesses", m)
	}
	return fmt.Sprintf("%d of %d shared accesses", n, m)
}

// text names a lock for people.
func (l Lock) text() string {
	switch l.Kind {
	case Owner:
		return l.Name + " of its owner"
	case Object:
		return l.Name + " of one object"
	}
	return l.Name
}

// message is a line of the JSON stream. Field order is output order.
type message struct {
	Type     string     `json:"type"`
	Location string     `json:"location"`
	Package  string     `json:"package"`
	Struct   string     `json:"struct"`
	Field    string     `json:"field"`
	Pos      export.Pos `json:"pos"`
	Lock
	Held    int       `json:"held"`
	Shared  int       `json:"shared"`
	Private int       `json:"private"`
	Others  []Count   `json:"others"`
	Without []without `json:"without"`
}

type without struct {
	Pos   export.Pos `json:"pos"`
	Op    string     `json:"op"`
	Func  string     `json:"func"`
	Locks []string   `json:"locks"`
	Open  bool       `json:"open"`
}

// JSON prints one object a line, of type guard.
func JSON(w io.Writer, list []Guarded) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	for i := range list {
		g := &list[i]
		m := message{
			Type: "guard", Location: g.Location.String(), Package: g.Pkg, Struct: g.Type, Field: g.Field, Pos: g.Pos,
			Lock: g.Lock, Held: g.Held, Shared: g.Shared, Private: g.Private, Others: g.Others, Without: []without{},
		}
		if m.Others == nil {
			m.Others = []Count{}
		}
		for _, a := range g.Without {
			locks := a.Locks
			if locks == nil {
				locks = []string{}
			}
			m.Without = append(m.Without, without{a.Pos, a.Op, a.Func, locks, a.Open})
		}
		if err := enc.Encode(m); err != nil {
			return err
		}
	}
	return b.Flush()
}
