package facts

import (
	"fmt"
	"sort"
	"strings"
)

// Universe interns the stable names of many Records, so that ids are dense and
// shared by all programs of a process. Ids depend only on the order in which
// Records are added. It is not safe for concurrent use while adding; reading
// through Layout, ShapeOf and Implements fills caches and is for one goroutine.
type Universe struct {
	Files   []string
	Types   []Type
	Funcs   []*Func // nil where only the name is known
	Methods []string
	Globals []Global
	Records []*Record

	names      []string // of Funcs
	typeID     map[string]TypeID
	funcID     map[string]FuncID
	methodID   map[string]MethodID
	globalID   map[string]GlobalID
	fileID     map[string]uint32
	recordOf   map[string]*Record // by PkgID
	initOf     map[string]FuncID
	layouts    []*Layout
	shapes     map[string]ShapeID
	shapeOf    []ShapeID
	skeletons  map[string]SkeletonID
	skeletonOf []SkeletonID
	impl       map[[2]TypeID]bool
	exported   map[TypeID][]uint32
	over       map[overKey][]TypeID
	overAt     int                          // len(Types) when over was made
	lookupFunc map[string]map[string]FuncID // PkgID, name
	declOf     map[string]Pos               // by Decl.Name
}

// NewUniverse returns an empty Universe.
func NewUniverse() *Universe {
	return &Universe{
		Files: []string{""}, Types: make([]Type, 1), Funcs: make([]*Func, 1), Methods: []string{""},
		Globals: make([]Global, 1), names: []string{""},
		typeID: map[string]TypeID{}, funcID: map[string]FuncID{}, methodID: map[string]MethodID{},
		globalID: map[string]GlobalID{}, fileID: map[string]uint32{"": 0},
		recordOf: map[string]*Record{}, initOf: map[string]FuncID{},
		shapes: map[string]ShapeID{}, impl: map[[2]TypeID]bool{},
		exported:   map[TypeID][]uint32{},
		lookupFunc: map[string]map[string]FuncID{}, declOf: map[string]Pos{},
	}
}

// FuncName returns the stable name of f.
func (u *Universe) FuncName(f FuncID) string { return u.names[f] }

// Record returns the record of a package by id, or nil.
func (u *Universe) Record(pkgID string) *Record { return u.recordOf[pkgID] }

// Init returns the initialiser of a package by id, or 0.
func (u *Universe) Init(pkgID string) FuncID { return u.initOf[pkgID] }

// Lookup returns a package-level function by package id and name, or 0.
func (u *Universe) Lookup(pkgID, name string) FuncID { return u.lookupFunc[pkgID][name] }

// FuncByName returns the function with a stable name, or 0.
func (u *Universe) FuncByName(name string) FuncID { return u.funcID[name] }

// TypeByName returns the type with a stable name, or 0.
func (u *Universe) TypeByName(name string) TypeID { return u.typeID[name] }

// Add interns the names of rec and rewrites its references in place. A function
// that an earlier record already defines is dropped: equal names have equal
// bodies. Cost: linear in the record.
func (u *Universe) Add(rec *Record) error {
	if u.recordOf[rec.PkgID] != nil {
		return fmt.Errorf("facts: package %s added twice", rec.PkgID)
	}
	u.Records = append(u.Records, rec)
	u.recordOf[rec.PkgID] = rec

	files := make([]uint32, len(rec.Files))
	decls := map[uint32]Pos{}
	for i, f := range rec.Files {
		if name, ok := strings.CutPrefix(f, DeclFile); ok {
			decls[uint32(i)] = u.declOf[name]
		} else {
			files[i] = intern(u.fileID, &u.Files, f)
		}
	}
	for _, d := range rec.Decls {
		d.Pos.File = files[d.Pos.File]
		u.declOf[d.Name] = d.Pos
	}
	methods := make([]MethodID, len(rec.Methods))
	for i, m := range rec.Methods {
		if i > 0 {
			methods[i] = internAs(u.methodID, &u.Methods, m)
		}
	}
	funcs := make([]FuncID, len(rec.FuncRef))
	for i, n := range rec.FuncRef {
		if i == 0 {
			continue
		}
		id, ok := u.funcID[n]
		if !ok {
			id = FuncID(len(u.Funcs))
			u.funcID[n] = id
			u.Funcs = append(u.Funcs, nil)
			u.names = append(u.names, n)
		}
		funcs[i] = id
	}
	types := make([]TypeID, len(rec.Types))
	fresh := make([]bool, len(rec.Types))
	for i := range rec.Types {
		if i == 0 {
			continue
		}
		t := &rec.Types[i]
		id, ok := u.typeID[t.Name]
		if !ok {
			id = TypeID(len(u.Types))
			u.typeID[t.Name] = id
			u.Types = append(u.Types, Type{})
			fresh[i] = true
		}
		types[i] = id
	}
	for i := range rec.Types {
		if i == 0 {
			continue
		}
		t := rec.Types[i]
		have := &u.Types[types[i]]
		if !fresh[i] && (have.Concrete || !t.Concrete) {
			continue
		}
		t.Elem, t.Key, t.Obj = types[t.Elem], types[t.Key], types[t.Obj]
		fields := make([]Field, len(t.Fields))
		for j, f := range t.Fields {
			f.Type = types[f.Type]
			fields[j] = f
		}
		t.Fields = fields
		ms := make([]Method, len(t.Methods))
		for j, m := range t.Methods {
			ms[j] = Method{methods[m.Key], funcs[m.Fn]}
		}
		sort.Slice(ms, func(a, b int) bool { return ms[a].Key < ms[b].Key })
		t.Methods = ms
		*have = t
	}
	globals := make([]GlobalID, len(rec.Globals))
	for i, g := range rec.Globals {
		if i == 0 {
			continue
		}
		g.Type = types[g.Type]
		g.Pos.File = files[g.Pos.File]
		id, ok := u.globalID[g.Name]
		if !ok {
			id = GlobalID(len(u.Globals))
			u.globalID[g.Name] = id
			u.Globals = append(u.Globals, g)
		} else if g.Pos.Valid() { // only its own package says where it is
			u.Globals[id].Pos = g.Pos
		}
		globals[i] = id
	}
	rw := &rewriter{files, types, funcs, methods, globals, decls}
	for _, f := range rec.Funcs {
		id := funcs[f.ID]
		rw.fn(f)
		if u.Funcs[id] == nil {
			u.Funcs[id] = f
		}
	}
	if rec.Init != 0 {
		u.initOf[rec.PkgID] = funcs[rec.Init]
	}
	m := make(map[string]FuncID, len(rec.Exports))
	for i := range rec.Exports {
		e := &rec.Exports[i]
		e.Fn = funcs[e.Fn]
		m[e.Name] = e.Fn
	}
	u.lookupFunc[rec.PkgID] = m
	for i := range rec.Vars {
		rec.Vars[i].Global = globals[rec.Vars[i].Global]
	}
	for i := range rec.Links {
		l := &rec.Links[i]
		l.Fn, l.Global = funcs[l.Fn], globals[l.Global]
	}
	// The tables of names have served.
	rec.FuncRef, rec.Types, rec.Methods, rec.Globals, rec.Files, rec.Decls = nil, nil, nil, nil, nil, nil
	return nil
}

// AddFunc adds a function made by the linker itself and returns its id.
func (u *Universe) AddFunc(f *Func) FuncID {
	id := FuncID(len(u.Funcs))
	f.ID = id
	u.funcID[f.Name] = id
	u.Funcs = append(u.Funcs, f)
	u.names = append(u.names, f.Name)
	return id
}

func intern(m map[string]uint32, list *[]string, s string) uint32 {
	id, ok := m[s]
	if !ok {
		id = uint32(len(*list))
		m[s] = id
		*list = append(*list, s)
	}
	return id
}

func internAs[T ~uint32](m map[string]T, list *[]string, s string) T {
	id, ok := m[s]
	if !ok {
		id = T(len(*list))
		m[s] = id
		*list = append(*list, s)
	}
	return id
}

// rewriter turns references into a record's tables into ids of the Universe.
type rewriter struct {
	files   []uint32
	types   []TypeID
	funcs   []FuncID
	methods []MethodID
	globals []GlobalID
	decls   map[uint32]Pos // by file number
}

func (rw *rewriter) pos(p *Pos) {
	if d, ok := rw.decls[p.File]; ok {
		*p = d
		return
	}
	p.File = rw.files[p.File]
}

func (rw *rewriter) fn(f *Func) {
	f.ID = rw.funcs[f.ID]
	f.Parent = rw.funcs[f.Parent]
	f.Recv = rw.types[f.Recv]
	rw.pos(&f.Pos)
	for i := range f.Regs {
		f.Regs[i].Type = rw.types[f.Regs[i].Type]
	}
	for i := range f.Sites {
		s := &f.Sites[i]
		s.Type, s.Fn = rw.types[s.Type], rw.funcs[s.Fn]
		rw.pos(&s.Pos)
	}
	for i := range f.Points {
		rw.pos(&f.Points[i].Pos)
	}
	for i := range f.Mems {
		f.Mems[i].Type = rw.types[f.Mems[i].Type]
	}
	for i := range f.Asserts {
		f.Asserts[i].Type = rw.types[f.Asserts[i].Type]
	}
	for i := range f.Calls {
		c := &f.Calls[i]
		c.Static, c.Method = rw.funcs[c.Static], rw.methods[c.Method]
		rw.pos(&c.Pos)
	}
	for i := range f.Globals {
		f.Globals[i].Global = rw.globals[f.Globals[i].Global]
	}
	for i := range f.FuncRef {
		f.FuncRef[i].Fn = rw.funcs[f.FuncRef[i].Fn]
	}
	for i := range f.Unknown {
		rw.pos(&f.Unknown[i].Pos)
	}
}
