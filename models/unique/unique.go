//go:build bfmodel

// A Handle points to the one copy of a value, which nobody writes after Make
// made it and which the package hands over with the order that takes. A copy
// of its own for each Make holds the same value; whether two handles are equal
// is the same question as before, asked of values.
package unique

func bfMaybe() bool

//bf:inline
//bf:silent
func bf_Make[T comparable](value T) Handle[T] {
	p := new(T)
	*p = value
	return Handle[T]{p}
}

//bf:inline
//bf:silent
func (h Handle[T]) bf_Value() T { return *h.value }
