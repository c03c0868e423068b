//go:build bfmodel

// Execution walks the template's tree, which does not change once it is
// parsed, and reads the data; it calls methods of values it finds there by
// name, functions it finds there, and the template's functions, with arguments
// from the data, prints what they give, and receives from channels to range over
// them. Which of them it calls the text decides, so any may be called.
package template

import (
	"errors"
	"fmt"
	"io"
	"reflect"
)

func bfMaybe() bool
func bfExported(x any) any
func bfDeepRead(x any)
func bfExportedRead(x any)
func bfMethods(x any) any
func bfCallFunc(f, x any) any
func bfUnknown(reason string)

func (t *Template) bf_execute(wr io.Writer, data any) (err error) {
	bfUnknown("text/template calls methods and functions by name: any that the data or the template holds")
	bfDeepRead(t.Tree)
	var funcs, args []any
	if t.common != nil {
		t.muTmpl.RLock()
		for _, x := range t.tmpl {
			bfDeepRead(x.Tree)
		}
		t.muTmpl.RUnlock()
		t.muFuncs.RLock()
		for _, f := range t.parseFuncs {
			funcs = append(funcs, f)
		}
		t.muFuncs.RUnlock()
	}
	for bfMaybe() { // nothing is locked; what one gives, the next may be called on or with
		x := bfExported(data)
		bfExportedRead(data)
		reflect.ValueOf(x).Recv()
		fmt.Fprint(wr, x)
		args = append(args, x)
		switch {
		case bfMaybe():
			data = x
		case bfMaybe():
			data = bfCallFunc(x, args)
		case bfMaybe():
			data = bfCallFunc(bfMethods(x), args)
		default:
			for _, f := range funcs {
				data = bfCallFunc(f, args)
			}
		}
	}
	if bfMaybe() {
		return ExecError{Name: t.Name(), Err: errors.New("template")}
	}
	return nil
}
