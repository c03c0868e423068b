package stages

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bfverify/bfverify/export"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/mustnot"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// evidence says in words what refuted a pair.
func (rp *report) evidence(e stage.Evidence) string {
	switch e := e.(type) {
	case stage.NeverEscapes:
		return "one goroutine alone can reach the object"
	case stage.Ordered:
		if e.Object != 0 {
			return "ordered by " + e.Rule + " on " + rp.cellName(e.Object)
		}
		return "ordered by " + e.Rule
	case stage.Signalled:
		return "ordered by " + e.Rule + " on " + rp.cellName(e.Cell)
	case stage.Published:
		return "one access belongs to the making of the object, and every way to it orders"
	case stage.Framed:
		f := rp.r.v.Res.Func(e.Root)
		what := "one call of " + display(f.Name)
		if e.Head >= 0 {
			what = "one iteration of a loop in " + display(f.Name)
		}
		why := ""
		if len(e.By) > 0 {
			why = ", where " + rp.evidence(e.By[0])
		}
		return "the object belongs to " + what + why
	case stage.Apart:
		if e.Head < 0 {
			return "the elements have different indices"
		}
		return "different iterations of a loop in " + display(rp.r.v.Res.Func(e.Root).Name) + " access different elements"
	case stage.Drawn:
		return "the indices are different tickets, given out by additions to " + rp.cellName(e.Cell)
	case stage.SameLock:
		if e.Once {
			return "one is in what a Do of " + rp.cellName(e.Cell) + " calls, the other there, too, or after a Do"
		}
		return "both hold " + rp.cellName(e.Cell)
	case stage.Inherited:
		return "one holds " + rp.cellName(e.Cell) + ", the other is done while " + display(rp.r.v.Res.Func(e.Root).Name) + " holds it"
	case stage.SameBase:
		if e.Once {
			return fmt.Sprintf("one is in what a Do of the Once %d bytes from the accessed location calls, the other there, too, or after a Do", e.Delta)
		}
		return fmt.Sprintf("both hold the lock %d bytes from the accessed location", e.Delta)
	case stage.SameOwner:
		return "both hold a lock of the one object through which the accessed one is reached: " + rp.cellName(e.Cell)
	case stage.StablePath:
		return "both hold the lock that a field of the accessed object leads to, which is written once: " + rp.cellName(e.Cell)
	case stage.OwnGoroutine:
		return "each object was made in, or for, one goroutine"
	}
	return e.Kind()
}

// cellName names a cell of an object made once.
func (rp *report) cellName(c uint32) string {
	o, off := rp.r.v.Res.Object(c)
	ob := &rp.r.v.Res.Objs[o]
	if ob.Kind == pta.ObjGlobal {
		return display(rp.r.v.Prog.Globals[ob.Global].Name) + objectPath(rp.r.v.Res.Cell(o, off))
	}
	cell := rp.r.v.Res.Cell(o, off)
	s := rp.r.v.Res.Site(o)
	if s == nil {
		return cell.Path
	}
	p := rp.pos(s.Pos)
	at := fmt.Sprintf(" made at %s:%d", filepath.Base(p.File), p.Line)
	switch {
	case s.Kind == facts.SiteChan:
		return "the channel" + at
	case variable(s):
		return s.Name + objectPath(cell) + at
	}
	return display(rp.r.v.Prog.Types[s.Type].Name) + objectPath(cell) + at
}

// objectPath is the path to the object of package sync, or the value, that begins
// with a cell: without the fields at its beginning that programmers do not know.
func objectPath(c *facts.Cell) string {
	path := c.PrettyPath()
	for _, first := range [...]string{"._", ".noCopy", ".w"} {
		path = strings.TrimSuffix(path, first)
	}
	return path
}

// variable reports whether a site is a variable of the program, by its name.
func variable(s *facts.Site) bool {
	return s.Name != "" && s.Name != "complit" && s.Name != "new" && !strings.HasPrefix(s.Name, "varargs")
}

func later(a, b export.Pos) bool {
	if a.File != b.File {
		return a.File > b.File
	}
	if a.Line != b.Line {
		return a.Line > b.Line
	}
	return a.Col > b.Col
}

// missing says which fact would refute the pair.
func (rp *report) missing(p *stage.Pair, pair *export.Pair) (text, at string) {
	la, lb := pair.A.Locks, pair.B.Locks
	switch {
	case len(la) == 0 && len(lb) == 0:
		if rp.element(p.Cell, p.A) && rp.element(p.Cell, p.B) {
			if o, _ := rp.r.v.Res.Object(p.Cell); !rp.r.starts(o) {
				return "unordered, no lock is held, and slices of the array may begin anywhere in it, so that indices say nothing", "local-index"
			}
			return "unordered, no lock is held, and the indices are not known to differ", "local-index"
		}
		if p.A.Thread != p.B.Thread {
			return "unordered, and no lock is held at either access: nothing joins the goroutines before the later access", "parallel"
		}
		return "unordered, and no lock is held: several goroutines started at one place run this code", "parallel"
	case len(la) == 0 || len(lb) == 0:
		held, where := la, pair.A.Pos
		if len(la) == 0 {
			held, where = lb, pair.B.Pos
		}
		return fmt.Sprintf("no common lock; %s held at %s:%d only", strings.Join(held, ", "), filepath.Base(where.File), where.Line), "local-lock"
	default:
		if strings.Join(la, ",") == strings.Join(lb, ",") {
			if allRead(la) && allRead(lb) {
				return "the lock is held for reading at both accesses", "local-lock"
			}
			return "the locks held cannot be shown to be one lock for one location", "local-lock"
		}
		return fmt.Sprintf("no common lock; %s against %s", strings.Join(la, ", "), strings.Join(lb, ", ")), "local-lock"
	}
}

// element reports whether a class accesses an element of an array by index.
func (rp *report) element(cell uint32, c *stage.Class) bool {
	o, off := rp.r.v.Res.Object(cell)
	a := &rp.r.w.Accesses[c.Rep]
	if x := rp.r.v.Res.Cell(o, off); x == nil || x.Array == 0 || a.Deep || a.Sync != stage.NoUse {
		return false
	}
	f := rp.r.v.Res.Func(a.Inst)
	base := f.Mems[a.Row].Base
	for range 16 {
		d := f.Regs[base].Def
		if d == 0 || f.Points[d-1].Op != facts.OpAddr {
			return false
		}
		ad := &f.Addrs[f.Points[d-1].Row]
		if ad.Kind != facts.AddrField {
			return ad.Kind == facts.AddrElem
		}
		base = ad.Base
	}
	return false
}

func allRead(ls []string) bool {
	for _, l := range ls {
		if !strings.HasSuffix(l, "(read)") {
			return false
		}
	}
	return true
}

func op(a *stage.Access) string {
	switch a.Sync {
	case stage.UseObject:
		return "use"
	case stage.UseClose:
		return "close"
	case stage.UseSend:
		return "send"
	case stage.UseAdd:
		return "Add"
	case stage.UseWait:
		return "Wait"
	}
	s := "read"
	if a.Write {
		s = "write"
	}
	if a.Atomic {
		s = "atomic " + s
	}
	return s
}

func (rp *report) pos(p facts.Pos) export.Pos {
	file := rp.r.v.Prog.Files[p.File]
	if file != "" {
		file = rp.r.opt.RelFile(file)
	}
	return export.Pos{File: file, Line: int(p.Line), Col: int(p.Col)}
}

// display shortens a stable name for people: no variants, no full paths.
func display(name string) string {
	s := plainName(name)
	if i := strings.LastIndexByte(cutArgs(s), '/'); i >= 0 {
		s = s[i+1:]
	}
	return s
}

// plainName is a stable name without variants of packages.
func plainName(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); {
		// " [q.test]" tells variants apart and says nothing to a reader.
		if name[i] == ' ' && i+1 < len(name) && name[i+1] == '[' {
			if j := strings.Index(name[i:], ".test]"); j > 0 && !strings.Contains(name[i:i+j], ",") {
				i += j + len(".test]")
				continue
			}
		}
		b.WriteByte(name[i])
		i++
	}
	return b.String()
}

func cutArgs(s string) string {
	if i := strings.IndexByte(s, '['); i >= 0 {
		return s[:i]
	}
	return s
}

// location names the variable that a cell is.
func (rp *report) location(cell uint32, x uint32) string {
	r := rp.r
	o, off := r.v.Res.Object(cell)
	ob := &r.v.Res.Objs[o]
	c := r.v.Res.Cell(o, off)
	suffix := ""
	if r.v.Prog.Types[c.Type].Name == "map.header" {
		suffix = " (map)"
	}
	path := c.PrettyPath()
	if suffix != "" {
		path = ""
	}
	a := &r.w.Accesses[x]
	if f := r.v.Res.Func(a.Inst); !a.Deep && a.Sync == stage.NoUse && (suffix != "" || path == "" || strings.HasPrefix(path, "[]")) && ob.Kind == pta.ObjSite {
		if n := rp.baseName(f, f.Mems[a.Row].Base, 4); n != "" {
			return n + suffix
		}
	}
	if a.Sync == stage.UseClose || a.Sync == stage.UseSend {
		return fmt.Sprintf("channel made at %s:%d", filepath.Base(r.v.Prog.Files[r.v.Res.Site(o).Pos.File]), r.v.Res.Site(o).Pos.Line)
	}
	switch ob.Kind {
	case pta.ObjGlobal:
		return display(r.v.Prog.Globals[ob.Global].Name) + path + suffix
	case pta.ObjSite:
		site := r.v.Res.Site(o)
		if variable(site) && path == "" && suffix == "" {
			return "variable " + site.Name
		}
		return display(r.v.Prog.Types[site.Type].Name) + path + suffix
	}
	return display(r.v.Prog.Types[ob.Type].Name) + path + suffix
}

// baseName names what a register was loaded from: a field or a global.
func (rp *report) baseName(f *facts.Func, r facts.Reg, depth int) string {
	def := f.Regs[r].Def
	if depth == 0 {
		return ""
	}
	if def == 0 {
		for _, g := range f.Globals {
			if g.Dst == r {
				return display(rp.r.v.Prog.Globals[g.Global].Name)
			}
		}
		return ""
	}
	p := f.Points[def-1]
	switch p.Op {
	case facts.OpMem:
		if m := &f.Mems[p.Row]; !m.Write {
			return rp.baseName(f, m.Base, depth-1)
		}
	case facts.OpAddr:
		a := &f.Addrs[p.Row]
		if a.Kind == facts.AddrField {
			t := rp.r.v.Prog.Types[f.Regs[a.Base].Type].Elem
			return display(rp.r.v.Prog.Types[t].Name) + "." + a.Name
		}
		if n := rp.baseName(f, a.Base, depth-1); n != "" {
			if a.Kind == facts.AddrElem {
				return n + "[]"
			}
			return n
		}
	case facts.OpCopy:
		return rp.baseName(f, f.Copies[p.Row].Src, depth-1)
	case facts.OpAlloc:
		if s := f.Sites[f.Allocs[p.Row].Site]; s.Kind == facts.SiteNew && s.Name != "" && s.Name != "complit" && s.Name != "new" && !strings.HasPrefix(s.Name, "varargs") {
			return s.Name
		}
	}
	return ""
}

// lockName names a held lock.
func (rp *report) lockName(n pta.InstID, m mustnot.Name) string {
	r := rp.r
	f := r.v.Res.Func(n)
	if m.Object {
		o, off := r.v.Res.Object(m.Cell)
		ob := &r.v.Res.Objs[o]
		c := r.v.Res.Cell(o, off)
		path := objectPath(c)
		why := ""
		if w := r.lock.Why(m.Cell); w != "" {
			why = " (no guard: " + w + ")"
		}
		if ob.Kind == pta.ObjGlobal {
			return display(r.v.Prog.Globals[ob.Global].Name) + path + why
		}
		name := display(r.v.Prog.Types[ob.Type].Name)
		if s := r.v.Res.Site(o); s != nil && variable(s) {
			name = s.Name
		}
		return name + path + why
	}
	// A register alone says little; its type and the field do.
	t := r.v.Prog.Types[f.Regs[m.Reg].Type].Elem
	if t == 0 {
		return ""
	}
	if c, ok := r.v.Single(n, m.Reg); ok {
		if at, ok := cellAt(r.v, c, m.Off); ok && oneObject(r.v, at) {
			return "" // the object's own name is listed
		}
	}
	for i := range r.v.Prog.Layout(t).Cells {
		c := &r.v.Prog.Layout(t).Cells[i]
		if c.Array == 0 && c.Off == m.Off {
			return display(r.v.Prog.Types[t].Name) + objectPath(c)
		}
	}
	return display(r.v.Prog.Types[t].Name)
}
