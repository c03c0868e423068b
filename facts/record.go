package facts

// Record holds the facts of one package: its functions, and the wrappers and
// generic instances that it induces, transitively. Every TypeID, FuncID,
// MethodID, GlobalID and file number in it refers to the tables here, until
// Universe.Add rewrites them. A Record is plain data, so that it can be
// encoded; its bytes depend on the package and its inputs alone.
type Record struct {
	PkgID string // package with its variant: "p", "p [p.test]"
	Path  string // import path
	Name  string // package name

	Files   []string   // element 0 is unused
	Types   []Type     // element 0 is no type
	FuncRef []string   // stable names; element 0 is none
	Methods []string   // method keys; element 0 is none
	Globals []Global   // used or defined here; element 0 is none
	Funcs   []*Func    // defined here; ID indexes FuncRef
	Init    FuncID     // package initialiser, or 0
	Exports []ExportFn // package-level functions by name, for entries
	Vars    []Var      // package-level variables by name, sorted
	Links   []Linkname // its directives //go:linkname
	Inert   bool       // its functions are left to its models
	Decls   []Decl     // for DeclFile
}

// Var names a package-level variable.
type Var struct {
	Name   string
	Global GlobalID
}

// ExportFn names a package-level function.
type ExportFn struct {
	Name string
	Fn   FuncID
}
