//go:build bfmodel

// Clone makes its string from bytes that it alone has and never changes.
package stringslite

//bf:inline
func bf_Clone(s string) string { return string([]byte(s)) }
