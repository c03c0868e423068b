// Package models holds Go source that stands in for code that has no Go body
// or must not be analysed as ordinary code. The sources are under
// models/<import path>/, written to the contract in docs/models.md, and are
// embedded here; this package reads them and parses nothing.
//
// A model of golang.org/x/... also serves the copy that GOROOT vendors, whose
// import path begins with vendor/.
package models

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
)

//go:embed all:*
var tree embed.FS

// buildLine is the first line of every model, which hides it from the go
// command. prefix goes before the file's name in the package it joins.
const (
	buildLine = "//go:build bfmodel\n"
	prefix    = "bf_"
)

// A File is one model file.
type File struct {
	Path   string // import path of the package it joins
	Name   string // file name, as in models/<Path>/<Name>
	Source []byte // as written, build line included
}

// Stripped returns the source to compile: without the build line, whose place
// is left blank so that line numbers stay.
func (f File) Stripped() []byte {
	return append([]byte("\n"), bytes.TrimPrefix(f.Source, []byte(buildLine))...)
}

// OverlayName returns the name under which the file joins its package.
func (f File) OverlayName() string { return prefix + f.Name }

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
	sort.Slice(files, func(i, j int) bool {
		if files[i].Path != files[j].Path {
			return files[i].Path < files[j].Path
		}
		return files[i].Name < files[j].Name
	})
	return files
}

// Overlay returns the model files of the packages that exist in goroot, keyed
// by the file name each takes there, ready for packages.Config.Overlay.
func Overlay(goroot string) (map[string][]byte, error) {
	src := filepath.Join(goroot, "src")
	if _, err := os.Stat(filepath.Join(src, "runtime")); err != nil {
		return nil, fmt.Errorf("models: %s is no GOROOT: %w", goroot, err)
	}
	overlay := make(map[string][]byte)
	for _, f := range Files() {
		for _, p := range [...]string{f.Path, "vendor/" + f.Path} {
			Join(overlay, f, filepath.Join(src, filepath.FromSlash(p)))
		}
	}
	return overlay, nil
}

// Join adds f to overlay if dir, the directory of f's package, exists. It is
// for packages outside GOROOT, whose directories only the go command knows.
func Join(overlay map[string][]byte, f File, dir string) {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		overlay[filepath.Join(dir, f.OverlayName())] = f.Stripped()
	}
}

// Has reports whether a model exists for the package with the given import
// path, GOROOT's vendored copies included.
func Has(importPath string) bool {
	d, err := fs.Stat(tree, strings.TrimPrefix(importPath, "vendor/"))
	return err == nil && d.IsDir()
}
