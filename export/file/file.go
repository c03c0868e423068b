// Package file is proofs as files: what check.Check judges, with what it is about.
//
// A file is the canonical CBOR of a File (RFC 8949, section 4.2.1), compressed with
// zstd; the fields have the names that they have here and in package check. Functions,
// types and variables are named, for their numbers differ from run to run. Same input,
// same bytes. A reader believes nothing of it: it finds the facts of the program
// again, from source, and asks the checker.
package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/fxamacker/cbor/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/bfverify/bfverify/export/check"
	"github.com/bfverify/bfverify/facts"
)

// Format is the version of the format that this package writes, and the only one that
// it reads.
const Format = 1

// MaxBytes is the length of the CBOR up to which a file is read.
const MaxBytes = 1 << 30

// A Header says what a proof is about. It is in the file, and beside it as JSON.
type Header struct {
	Format   int
	Tool     string    // version of bfverify
	Build    string    // build configuration
	Program  string    // import path of the main package, or of the package under test
	Kind     string    // main or test
	Scope    []string  // packages whose pairs it is about, ascending; null for all
	Packages []Package // of the program, dependencies first
	// What the checker said where the file was written; who checks asks again.
	Proved, Closed bool
	Open           int            // pairs without evidence
	NotChecked     map[string]int // pairs with evidence that the checker does not judge, by kind
	Refused        []string       // constructs that it does not judge
	Assumed        []string       // what the facts of the functions that run take for granted
}

// Package is a package with a hash of its source.
type Package struct{ Path, Hash string }

// File is a proof.
type File struct {
	Header
	Funcs, Types, Globals []string // named by Claims, by number, from 1 on
	Claims                *check.Claims
}

// New returns the proof that claims are of a program.
func New(h Header, p *facts.Program, c *check.Claims) *File {
	f := &File{Header: h, Funcs: []string{""}, Types: []string{""}, Globals: []string{""}}
	h.Format = Format
	f.Header = h
	own := *c
	own.Objects, own.Insts = slices.Clone(c.Objects), slices.Clone(c.Insts)
	f.Claims = &own
	f.rename(table(&f.Funcs, func(id facts.FuncID) string { return p.FuncName(id) }),
		table(&f.Types, func(id facts.TypeID) string { return p.Types[id].Name }),
		table(&f.Globals, func(id facts.GlobalID) string { return p.Globals[id].Name }))
	return f
}

// rename puts other numbers in place of those of functions, types and variables.
func (f *File) rename(fn func(facts.FuncID) facts.FuncID, ty func(facts.TypeID) facts.TypeID, global func(facts.GlobalID) facts.GlobalID) {
	for i := range f.Claims.Insts {
		f.Claims.Insts[i].Fn = fn(f.Claims.Insts[i].Fn)
	}
	for i := range f.Claims.Objects {
		o := &f.Claims.Objects[i]
		o.Fn, o.Type, o.Global = fn(o.Fn), ty(o.Type), global(o.Global)
	}
}

// table returns a function that numbers names in the order in which they come.
func table[T ~uint32](list *[]string, name func(T) string) func(T) T {
	ids := map[T]T{0: 0}
	return func(x T) T {
		id, ok := ids[x]
		if !ok {
			id = T(len(*list))
			*list = append(*list, name(x))
			ids[x] = id
		}
		return id
	}
}

// Write writes a file. It is written at once.
func (f *File) Write(w io.Writer) error {
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		return err
	}
	b, err := mode.Marshal(f)
	if err != nil {
		return err
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	defer z.Close()
	_, err = w.Write(z.EncodeAll(b, nil))
	return err
}

// ErrFormat is the error of bytes that are no proof, and of proofs in another format.
var ErrFormat = errors.New("no proof that this version of bfverify reads")

// Read reads a file. The memory that it takes is bounded by MaxBytes, and by the size
// of the file but for a factor. Every error wraps ErrFormat, unless it is of r.
func Read(r io.Reader) (*File, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxBytes))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	defer z.Close()
	var b bytes.Buffer
	if n, err := io.Copy(&b, io.LimitReader(z, MaxBytes+1)); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFormat, err)
	} else if n > MaxBytes {
		return nil, fmt.Errorf("%w: it is longer than %d MiB", ErrFormat, MaxBytes>>20)
	}
	opt := cbor.DecOptions{DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden,
		MaxNestedLevels: 16, MaxArrayElements: 1 << 27, MaxMapPairs: 1 << 20}
	decode := func(to any) error {
		mode, err := opt.DecMode()
		if err == nil {
			err = mode.Unmarshal(b.Bytes(), to)
		}
		if err != nil {
			err = fmt.Errorf("%w: %v", ErrFormat, err)
		}
		return err
	}
	var version struct{ Format int }
	if err := decode(&version); err != nil {
		return nil, err
	}
	if version.Format != Format {
		return nil, fmt.Errorf("%w: it has format %d, not %d", ErrFormat, version.Format, Format)
	}
	opt.ExtraReturnErrors = cbor.ExtraDecErrorUnknownField
	f := &File{}
	if err := decode(f); err != nil {
		return nil, err
	}
	if f.Claims == nil {
		return nil, fmt.Errorf("%w: it has no claims", ErrFormat)
	}
	return f, nil
}

// Changed names the packages, ascending, of which the source is not what the proof was
// made of: those with another hash, and those that one of the two has not.
func (f *File) Changed(now []Package) []string {
	hashes := map[string][2]string{}
	for n, list := range [...][]Package{f.Packages, now} {
		for _, p := range list {
			h := hashes[p.Path]
			h[n] += p.Hash + ";"
			hashes[p.Path] = h
		}
	}
	maps.DeleteFunc(hashes, func(_ string, h [2]string) bool { return h[0] == h[1] })
	return slices.Sorted(maps.Keys(hashes))
}

// For returns the claims about a program whose facts were found again. An error says
// what the program does not have. It may be called once.
func (f *File) For(p *facts.Program) (*check.Claims, error) {
	var wrong error
	globals := map[string]facts.GlobalID{}
	for i := range p.Globals {
		globals[p.Globals[i].Name] = facts.GlobalID(i)
	}
	f.rename(lookup(f.Funcs, "function", &wrong, p.FuncByName), lookup(f.Types, "type", &wrong, p.TypeByName),
		lookup(f.Globals, "variable", &wrong, func(name string) facts.GlobalID { return globals[name] }))
	if wrong != nil {
		return nil, wrong
	}
	return f.Claims, nil
}

// lookup returns a function that finds names again.
func lookup[T ~uint32](list []string, what string, wrong *error, find func(string) T) func(T) T {
	return func(x T) T {
		if x == 0 {
			return 0
		}
		if int(x) >= len(list) {
			*wrong = fmt.Errorf("%w: it names no %s %d", ErrFormat, what, x)
			return 0
		}
		id := find(list[x])
		if id == 0 {
			*wrong = fmt.Errorf("the program has no %s %q", what, list[x])
		}
		return id
	}
}
