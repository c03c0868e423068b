//go:build bfmodel

// Its users are errors, sort and context; errors and sort have models of their
// own, and context asks for the name of a type. Types are tables that nobody
// writes.
//
//bf:default inert types are tables that nobody writes, and the only user without a model asks for names
package reflectlite

func bfStore(p, x any)

func bf_TypeOf(i any) Type {
	if i == nil {
		return nil
	}
	return rtype{}
}

func (v Value) bf_Type() Type { return rtype{} }

func (t rtype) bf_Elem() Type { return t }

func (t rtype) bf_In(i int) Type { return t }

func (t rtype) bf_Key() Type { return t }

func (t rtype) bf_Out(i int) Type { return t }

func bf_Swapper(slice any) func(i, j int) {
	return func(i, j int) { bfStore(slice, nil) }
}
