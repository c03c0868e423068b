package pta

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bfverify/bfverify/facts"
)

// A Var is a register in an instance: what PointsTo can be asked about.
type Var struct {
	Inst InstID
	Reg  facts.Reg
}

// Instances returns the instances of a function in ascending order, one a
// context; none if no run reaches it. Cost: linear in all instances.
func (r *Result) Instances(fn facts.FuncID) []InstID {
	var out []InstID
	for i := 1; i < len(r.Insts); i++ {
		if r.Insts[i].Fn == fn {
			out = append(out, InstID(i))
		}
	}
	return out
}

// At returns the registers with a pointer-like leaf that are defined on a line of
// a file, in the order of their instances and of the points in these. The file is
// one of facts.Universe.Files, or what follows a separator in one. A register's
// column is that of its point, facts.Func.Points[Def-1].Pos. Parameters are
// defined by calls, not by a point; they are facts.Func.Params. A client with the
// SSA form has a surer way, extract.UniverseWith. Cost: linear in the registers
// of all instances.
func (r *Result) At(file string, line uint32) []Var {
	files := map[uint32]bool{}
	for i, f := range r.Prog.Files {
		if i > 0 && (f == file || strings.HasSuffix(filepath.ToSlash(f), "/"+filepath.ToSlash(file))) {
			files[uint32(i)] = true
		}
	}
	var out []Var
	for i := 1; i < len(r.Insts); i++ {
		f := r.Func(InstID(i))
		if f == nil {
			continue
		}
		for _, p := range f.Points {
			if p.Pos.Line != line || !files[p.Pos.File] {
				continue
			}
			if v := f.Defines(p); v != facts.NoReg && len(r.u.Layout(f.Regs[v].Type).Ptrs) > 0 {
				out = append(out, Var{InstID(i), v})
			}
		}
	}
	return out
}

// Label describes a cell for people: the object by its name or its type, where
// it was allocated, and the path to the cell. Heap contexts are left out, so that
// two cells may have one label. Examples:
//
//	example.com/list.head.next         of a global
//	example.com/list.node at main.go:10.val
//	interface of *example.com/list.keeper at main.go:38
//	func example.com/list.newNode
func (r *Result) Label(cell uint32) string {
	o, off := r.Object(cell)
	ob := &r.Objs[o]
	path := ""
	if c := r.Cell(o, off); c != nil {
		path = c.PrettyPath()
	}
	switch ob.Kind {
	case ObjGlobal:
		return r.Prog.Globals[ob.Global].Name + path
	case ObjFunc:
		return "func " + r.Prog.FuncName(ob.Fn)
	case ObjSite:
		s := r.Site(o)
		at := fmt.Sprintf(" at %s:%d", filepath.Base(r.Prog.Files[s.Pos.File]), s.Pos.Line)
		switch s.Kind {
		case facts.SiteClosure:
			return "closure of " + r.Prog.FuncName(s.Fn) + at
		case facts.SiteBox:
			return "interface of " + r.Prog.Types[ob.Type].Name + at
		}
		return r.Prog.Types[ob.Type].Name + at + path
	case ObjGhost, ObjRef:
		return "part of " + r.Label(ob.Of)
	case ObjArith, ObjUnboxed:
		return "part of " + r.Label(r.Objs[ob.Of].Node)
	case ObjType:
		return "type " + r.Prog.Types[ob.Of].Name
	case ObjMethod:
		return "a method by reflection"
	}
	return r.Prog.Types[ob.Type].Name + " of a model" + path
}
