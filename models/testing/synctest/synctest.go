//go:build bfmodel

// testingSynctestTest is package testing's, reached by a linkname: it runs f
// as a subtest.
package synctest

import "testing"

//bf:inline
func bf_testingSynctestTest(t *testing.T, f func(*testing.T)) bool { return t.Run("", f) }
