package facts

// Program is one whole program: a root function over a Universe. The root runs
// the package initialisers in dependency order and then main, or the entries
// of a test binary.
type Program struct {
	*Universe
	Path    string   // import path of the main package or the package under test
	Test    bool     // a test binary
	Root    FuncID   // made by the linker
	Tests   FuncID   // the linker's body of bfTests for this program; 0 in a main program
	Entries []Entry  // test binaries: what Tests calls, in order
	PkgIDs  []string // packages in the order of their initialisation
}

// Entry is one entry of a test binary; its call is Calls[Row] of Tests.
type Entry struct {
	Name string // TestX
	Fn   FuncID
	Row  uint32
}
