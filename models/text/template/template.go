//go:build bfmodel

// Execution walks the template's tree, which does not change once it is
// parsed, and reads the data; it calls methods of values it finds there by
// name, functions it finds there, and the template's functions, with arguments
// from the data, and prints what they give. Which of them it calls the text
// decides, so any may be called.
package template

import (
	"errors"
	"fmt"
	"io"
)

func bfMaybe() bool
func bfExported(x any) any
func bfDeepRead(x any)
func bfExportedRead(x any)
func bfCallMethods(recv, x any) any
func bfCallFunc(f, x any) any
func bfUnknown(reason string)

func (t *Template) bf_execute(wr io.Writer, data any) (err error) {
	bfUnknown("text/template calls methods and functions by name: any that the data or the template holds")
	bfExportedRead(data)
	bfDeepRead(t.Tree)
	if t.common != nil {
		t.muTmpl.RLock()
		for _, x := range t.tmpl {
			bfDeepRead(x.Tree)
		}
		t.muTmpl.RUnlock()
		var funcs []any
		t.muFuncs.RLock()
		for _, f := range t.parseFuncs {
			funcs = append(funcs, f)
		}
		t.muFuncs.RUnlock()
		for _, f := range funcs { // called with nothing locked
			for bfMaybe() {
				fmt.Fprint(wr, bfCallFunc(f, data))
			}
		}
	}
	for bfMaybe() {
		x := bfExported(data)
		fmt.Fprint(wr, x)
		fmt.Fprint(wr, bfCallFunc(x, data))
		fmt.Fprint(wr, bfCallMethods(x, data))
	}
	if bfMaybe() {
		return ExecError{Name: t.Name(), Err: errors.New("template")}
	}
	return nil
}
