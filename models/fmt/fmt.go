//go:build bfmodel

// Printing reads what it is handed and calls the methods that it finds there;
// the real code walks the operands with reflection, through printers that it
// takes from a pool. Here everything that the real code can visit is read, and
// every value in it has its formatting methods called, any number of times.
// Pointers below the first are printed as numbers: they are not followed, but
// the methods of what they point to are called.
// The text is fresh memory. It is written with one call of the writer's Write,
// as the package documents.
//
// The printer handed to Formatter and the state handed to Scanner are fresh
// ones of the real types, whose methods are analysed from their source. The real
// ones go back to pools: a write stands for those of who takes them next.
package fmt

import (
	"errors"
	"io"
	"os"
)

func bfMaybe() bool
func bfPrinted(a any) any
func bfPrintRead(a any)
func bfStore(p, x any)

// bfx_methods calls what handleMethods may call. A panic of the method is
// caught and printed, as in (*pp).catchPanic.
func bfx_methods(x any) {
	defer func() {
		if r := recover(); r != nil {
			bfx_format([]any{r})
		}
	}()
	if f, ok := x.(Formatter); ok {
		p := new(pp)
		p.fmt.init(&p.buf)
		f.Format(p, 'v')
		p.buf = p.buf[:0]
	}
	if s, ok := x.(GoStringer); ok {
		s.GoString()
	}
	if e, ok := x.(error); ok {
		e.Error()
	}
	if s, ok := x.(Stringer); ok {
		s.String()
	}
}

//bf:inline
func bfx_format(a []any) {
	bfPrintRead(a)
	for bfMaybe() {
		bfx_methods(bfPrinted(a))
	}
}

func bfx_text() string {
	if bfMaybe() {
		return "text"
	}
	return ""
}

// bfx_write writes the text. The printer that holds it goes back to its pool then,
// and who takes it next overwrites the text.
//
//bf:inline
func bfx_write(w io.Writer) (n int, err error) {
	b := make([]byte, 1)
	n, err = w.Write(b)
	b[0] = 0
	return n, err
}

//bf:inline
func bf_Sprint(a ...any) string {
	bfx_format(a)
	return bfx_text()
}

//bf:inline
func bf_Sprintf(format string, a ...any) string {
	bfx_format(a)
	return bfx_text()
}

//bf:inline
func bf_Sprintln(a ...any) string {
	bfx_format(a)
	return bfx_text()
}

//bf:inline
func bf_Append(b []byte, a ...any) []byte {
	bfx_format(a)
	return append(b, bfx_text()...)
}

//bf:inline
func bf_Appendf(b []byte, format string, a ...any) []byte {
	bfx_format(a)
	return append(b, bfx_text()...)
}

//bf:inline
func bf_Appendln(b []byte, a ...any) []byte {
	bfx_format(a)
	return append(b, bfx_text()...)
}

//bf:inline
func bf_Fprint(w io.Writer, a ...any) (n int, err error) {
	bfx_format(a)
	return bfx_write(w)
}

//bf:inline
func bf_Fprintf(w io.Writer, format string, a ...any) (n int, err error) {
	bfx_format(a)
	return bfx_write(w)
}

//bf:inline
func bf_Fprintln(w io.Writer, a ...any) (n int, err error) {
	bfx_format(a)
	return bfx_write(w)
}

//bf:inline
func bf_Print(a ...any) (n int, err error) {
	bfx_format(a)
	return bfx_write(os.Stdout)
}

//bf:inline
func bf_Printf(format string, a ...any) (n int, err error) {
	bfx_format(a)
	return bfx_write(os.Stdout)
}

//bf:inline
func bf_Println(a ...any) (n int, err error) {
	bfx_format(a)
	return bfx_write(os.Stdout)
}

// Errorf keeps the operands of %w, which may be any operand that is an error.
//
//bf:inline
func bf_Errorf(format string, a ...any) (err error) {
	bfx_format(a)
	if bfMaybe() {
		return errors.New(format)
	}
	if bfMaybe() {
		w := &wrapError{msg: bfx_text()}
		for _, x := range a {
			if bfMaybe() {
				w.err, _ = x.(error)
			}
		}
		return w
	}
	var errs []error
	for _, x := range a {
		if e, ok := x.(error); ok {
			errs = append(errs, e)
		}
	}
	return &wrapErrors{bfx_text(), errs}
}

func bf_errorf(format string, a ...any) error { return Errorf(format, a...) }

// Scanning reads runes from the reader and stores into the operands, or has
// them scan themselves.
//
//bf:inline
func bfx_scan(r io.Reader, a []any) (n int, err error) {
	s := new(ss)
	if rs, ok := r.(io.RuneScanner); ok {
		s.rs = rs
	} else {
		s.rs = &readRune{reader: r, peekRune: -1}
	}
	for bfMaybe() {
		s.ReadRune()
		s.UnreadRune()
	}
	for _, x := range a {
		if v, ok := x.(Scanner); ok {
			err = v.Scan(s, 'v')
			s.rs = nil
		}
		bfStore(x, make([]byte, 1))
		n++
	}
	if bfMaybe() {
		err = errors.New("expected newline")
	}
	if bfMaybe() {
		err = io.EOF
	}
	if bfMaybe() {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

//bf:inline
func bf_Fscan(r io.Reader, a ...any) (n int, err error) { return bfx_scan(r, a) }

//bf:inline
func bf_Fscanln(r io.Reader, a ...any) (n int, err error) { return bfx_scan(r, a) }

//bf:inline
func bf_Fscanf(r io.Reader, format string, a ...any) (n int, err error) { return bfx_scan(r, a) }

//bf:inline
func bf_Sscan(str string, a ...any) (n int, err error) {
	return bfx_scan((*stringReader)(&str), a)
}

//bf:inline
func bf_Sscanln(str string, a ...any) (n int, err error) {
	return bfx_scan((*stringReader)(&str), a)
}

//bf:inline
func bf_Sscanf(str string, format string, a ...any) (n int, err error) {
	return bfx_scan((*stringReader)(&str), a)
}
