//go:build bfmodel

// A Logger formats into a buffer from a pool and holds outMu while it writes. The
// buffer goes back after the write, and who takes it next overwrites it: a fresh
// one that is overwritten then shows the same.
// Everything else in the package is analysed from its source.
package log

//bf:inline
func (l *Logger) bf_output(pc uintptr, calldepth int, appendOutput func([]byte) []byte) error {
	if l.isDiscard.Load() {
		return nil
	}
	l.prefix.Load()
	l.flag.Load()
	buf := appendOutput(make([]byte, 0, 1))
	l.outMu.Lock()
	defer l.outMu.Unlock()
	_, err := l.out.Write(buf)
	buf[0] = 0
	return err
}
