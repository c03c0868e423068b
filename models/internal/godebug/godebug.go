//go:build bfmodel

// Settings are read through atomics and registered under locks inside the
// package and the runtime; a Setting's name is set once, by New. The value of
// a setting may be anything.
//
//bf:default inert settings and their metrics are synchronised inside the package and the runtime
package godebug

func bfMaybe() bool

//bf:inline
func bf_New(name string) *Setting { return &Setting{name: name} }

func (s *Setting) bf_Name() string { return "setting" }

func (s *Setting) bf_Value() string {
	if bfMaybe() {
		return "1"
	}
	return ""
}

func (s *Setting) bf_String() string { return "setting=1" }
