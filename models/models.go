// Package models holds Go source that stands in for code that has no Go body
// or must not be analysed as ordinary code. The sources are under
// models/<import path>/, written to the contract in docs/models.md, and are
// embedded here; this package reads them and those of users (Read), and parses
// nothing.
//
// A model of golang.org/x/... also serves the copy that GOROOT vendors, whose
// import path begins with vendor/.
package models

import (
	"bytes"
	"embed"
	"fmt"
	"go/build/constraint"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
)

//go:embed all:*
var tree embed.FS

// Tag is the build tag of every model, which hides it from the go command.
const Tag = "bfmodel"

// buildLine is the first line of a model that is for every build.
const buildLine = "//go:build " + Tag + "\n"

// A File is one model file.
type File struct {
	Path   string // import path of the package it joins
	Name   string // file name, as in models/<Path>/<Name>
	Source []byte // as written, build line included
	File   string // where it is on disk; "" for the models that are built in
}

// User reports whether the file is a user's, and not built in.
func (f File) User() bool { return f.File != "" }

// Files returns all model files in the order of path and name.
func Files() []File {
	var files []File
	err := fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Dir(p) == "." || path.Ext(p) != ".go" {
			return err
		}
		src, err := tree.ReadFile(p)
		if err != nil {
			return err
		}
		files = append(files, File{Path: path.Dir(p), Name: path.Base(p), Source: src})
		return nil
	})
	if err != nil {
		panic("models: reading the embedded tree: " + err.Error()) // cannot fail: the tree is in the binary
	}
	byPath(files)
	return files
}

// Read returns the model files below dir, which is laid out as the tree of this
// package is, in the order of path and name.
//
// An error names the file or directory that is not as docs/models.md says, and
// what to do.
func Read(dir string) ([]File, error) {
	root, err := filepath.Abs(dir)
	if err == nil {
		_, err = os.Stat(root)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: no directory of models: %w (it should hold <import path>/*.go, see docs/models.md)", dir, cause(err))
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	var files []File
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if base := d.Name(); name != root && (base[0] == '.' || base[0] == '_') {
				return filepath.SkipDir
			}
			return nil
		case filepath.Ext(name) != ".go":
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		shown := filepath.Join(dir, rel)
		p := path.Dir(filepath.ToSlash(rel))
		if p == "." {
			return fmt.Errorf("%s: a model is in a directory named by the import path of its package (move it to: %s)", shown, filepath.Join(dir, "IMPORT", "PATH", rel))
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if !hidden(src) {
			return fmt.Errorf("%s:1: a model begins with the line %q, so that the go command leaves it alone (write it there)", shown, strings.TrimSpace(buildLine))
		}
		files = append(files, File{Path: p, Name: path.Base(filepath.ToSlash(rel)), Source: src, File: name})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: holds no model (it should hold <import path>/*.go, see docs/models.md)", dir)
	}
	byPath(files)
	return files, nil
}

// hidden reports whether the first line keeps a model from the go command: a
// build constraint that asks for the tag bfmodel, and may ask for more.
func hidden(src []byte) bool {
	line, _, _ := bytes.Cut(src, []byte("\n"))
	expr, err := constraint.Parse(strings.TrimSpace(string(line)))
	if err != nil || !constraint.IsGoBuild(string(line)) {
		return false
	}
	return mustHave(expr)
}

// mustHave reports whether expr is a conjunction that has the tag bfmodel.
func mustHave(expr constraint.Expr) bool {
	switch x := expr.(type) {
	case *constraint.TagExpr:
		return x.Tag == Tag
	case *constraint.AndExpr:
		return mustHave(x.X) || mustHave(x.Y)
	}
	return false
}

// cause strips from err the path that the message has already.
func cause(err error) error {
	if pe, ok := err.(*fs.PathError); ok {
		return pe.Err
	}
	return err
}

func byPath(files []File) {
	sort.Slice(files, func(i, j int) bool {
		if files[i].Path != files[j].Path {
			return files[i].Path < files[j].Path
		}
		return files[i].Name < files[j].Name
	})
}
