//go:build bfmodel

// Assembly that asks the kernel, or what the kernel maps into the process, for the
// time, and writes the record that it is handed.
package unix

import "syscall"

//bf:inline
func bf_gettimeofday(tv *Timeval) (err syscall.Errno) {
	*tv = Timeval{Sec: 1, Usec: 1}
	return 0
}
