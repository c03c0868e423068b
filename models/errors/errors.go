//go:build bfmodel

// Is and As walk the tree of errors as their source does; only the question
// whether types fit is asked of reflectlite, and is answered by "maybe". What
// As stores is an error of that tree, if its type fits the target.
package errors

import "internal/reflectlite"

func bfMaybe() bool
func bfStore(p, x any)

//bf:inline
func bf_Is(err, target error) bool {
	if err == nil || target == nil {
		return err == target
	}
	return is(err, target, bfMaybe())
}

//bf:inline
func bf_As(err error, target any) bool {
	if err == nil {
		return false
	}
	if target == nil || bfMaybe() {
		panic("errors: target must be a non-nil pointer")
	}
	return as(err, target, reflectlite.Value{}, nil)
}

func bf_as(err error, target any, targetVal reflectlite.Value, targetType reflectlite.Type) bool {
	for {
		if bfMaybe() {
			bfStore(target, err)
			return true
		}
		if x, ok := err.(interface{ As(any) bool }); ok && x.As(target) {
			return true
		}
		switch x := err.(type) {
		case interface{ Unwrap() error }:
			err = x.Unwrap()
			if err == nil {
				return false
			}
		case interface{ Unwrap() []error }:
			for _, err := range x.Unwrap() {
				if err != nil && as(err, target, targetVal, targetType) {
					return true
				}
			}
			return false
		default:
			return false
		}
	}
}
