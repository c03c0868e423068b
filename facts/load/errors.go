package load

import (
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// Every error of Load says where, what, and the next command to type, in that
// order. Each kind has its type, so that a caller can tell them apart.

// maxShown is how many findings a message lists before it counts the rest.
const maxShown = 10

// A Diag is one finding of the go command, the parser or the type checker.
type Diag struct {
	Pos token.Position // file as shown: relative to the current directory where that is below it; may be invalid
	Msg string         // what is wrong; may have several lines
}

// String returns "file:line:col: message", with less where less is known.
func (d Diag) String() string {
	if d.Pos.Filename == "" {
		return d.Msg
	}
	return d.Pos.String() + ": " + d.Msg
}

// list returns the first findings, one a line, and how many more there are.
func list(diags []Diag) string {
	var b strings.Builder
	for i, d := range diags {
		if i == maxShown {
			fmt.Fprintf(&b, "%d more errors\n", len(diags)-i)
			break
		}
		fmt.Fprintln(&b, d)
	}
	return b.String()
}

// A DirError reports a directory (-C) to work in that is none.
type DirError struct {
	Dir string
	Err error
}

func (e *DirError) Error() string {
	return fmt.Sprintf("%s: cannot work in this directory: %v (list what there is: ls %s)", e.Dir, cause(e.Err), shown(filepath.Dir(e.Dir)))
}

func (e *DirError) Unwrap() error { return e.Err }

// cause strips from err the path that the message has already.
func cause(err error) error {
	if pe, ok := err.(*os.PathError); ok {
		return pe.Err
	}
	return err
}

// A GoCommandError reports a go command that cannot be found or run.
type GoCommandError struct{ Err error }

func (e *GoCommandError) Error() string {
	return fmt.Sprintf("cannot run the go command, which finds the packages: %v (install Go from https://go.dev/dl or add it to PATH, then try: go version)", e.Err)
}

func (e *GoCommandError) Unwrap() error { return e.Err }

// A NoModuleError reports that no go.mod governs the directory.
type NoModuleError struct{ Dir string }

func (e *NoModuleError) Error() string {
	return fmt.Sprintf("%s: no go.mod here or in a directory above (go to your module with -C DIR, or make one: go mod init NAME && go mod tidy)", shown(e.Dir))
}

// A NoMatchError reports patterns that match no package. One of several is
// enough: what was misspelt would be missing from the verdict.
type NoMatchError struct {
	Dir      string   // where the patterns were read
	Patterns []string // those without a match
	Why      string   // what the go command said; may be ""
	Next     string   // what to type
}

func (e *NoMatchError) Error() string {
	s := fmt.Sprintf("%s: no packages match %s", shown(e.Dir), strings.Join(e.Patterns, " "))
	if e.Why != "" {
		s += ": " + e.Why
	}
	return s + " (" + e.Next + ")"
}

// A CodeError reports code that does not parse or type-check, or that the go
// command rejects.
type CodeError struct {
	Diags []Diag // in the order of files and lines; Error shows the first ten
	Hint  string // a likely cause; may be ""
	Next  string // what to type
}

func (e *CodeError) Error() string {
	s := list(e.Diags)
	if e.Hint != "" {
		s += e.Hint + "\n"
	}
	return s + "only code that compiles can be verified (" + e.Next + ")"
}

// A ModelError reports a model that is no Go, or that does not fit the package
// that it is added to.
type ModelError struct {
	Files     []string // the models, as shown
	Packages  []string // import paths of what they are models of
	Diags     []Diag
	User      bool   // one of them is the user's
	GoVersion string // of the go command
}

func (e *ModelError) Error() string {
	files := strings.Join(e.Files, ", ")
	if e.User {
		return fmt.Sprintf("%s: this model does not fit %s:\n%s(correct it as docs/models.md says, or take it out of the directory that -models names; what there is to model: go doc -u %s)",
			files, strings.Join(e.Packages, ", "), list(e.Diags), e.Packages[0])
	}
	return fmt.Sprintf("%s: this model does not fit the std of %s:\n%s(use the Go version that bfverify was built for, see bfverify version; or correct the model and look again: bfverify models)",
		files, e.GoVersion, list(e.Diags))
}

// parseDiags converts what the parser says of one file.
func parseDiags(file string, err error) []Diag {
	errs, ok := err.(scanner.ErrorList)
	if !ok {
		return []Diag{{Pos: token.Position{Filename: shown(file)}, Msg: err.Error()}}
	}
	var diags []Diag
	for _, e := range errs {
		pos := e.Pos
		pos.Filename = shown(pos.Filename)
		diags = append(diags, Diag{Pos: pos, Msg: e.Msg})
	}
	return diags
}

// A CgoError reports a package that needs cgo where cgo or a C compiler is
// missing.
type CgoError struct {
	Package string // its import path
	What    string // what is missing
	Next    string // what to type
}

func (e *CgoError) Error() string {
	return fmt.Sprintf("%s: needs cgo, but %s (%s)", e.Package, e.What, e.Next)
}

// A VersionError reports code for a newer Go than there is, or than bfverify
// was built with.
type VersionError struct {
	Where string // file or module
	Needs string // the version it needs, as "go1.27"; "" when unknown
	Have  string // the version there is
	What  string // whose version Have is
	Next  string // what to type
}

func (e *VersionError) Error() string {
	needs := e.Needs
	if needs == "" {
		needs = "a newer Go"
	}
	return fmt.Sprintf("%s: needs %s, but %s is %s (%s)", e.Where, needs, e.What, e.Have, e.Next)
}

// A DependencyError reports imports that no module at hand provides.
type DependencyError struct {
	Diags []Diag
	Next  string // what to type
}

func (e *DependencyError) Error() string {
	return list(e.Diags) + "dependencies are missing (" + e.Next + ")"
}

// A CycleError reports packages that import each other.
type CycleError struct {
	Pos   token.Position // the import that starts the cycle; may be invalid
	Stack []string       // import paths; the first is the last
	Test  bool           // through test files of the first
}

func (e *CycleError) Error() string {
	where, in := "", ""
	if e.Pos.Filename != "" {
		where = e.Pos.String() + ": "
	}
	next := "break the cycle, then see that nothing is left of it: go list -deps " + e.Stack[0]
	if e.Test {
		in = " by test files"
		next = "move the test to package " + e.Stack[0] + "_test, then: go vet " + e.Stack[0]
	}
	return fmt.Sprintf("%simport cycle%s: %s (%s)", where, in, strings.Join(e.Stack, " imports "), next)
}

// A ListError reports any other refusal of the go command, in its words.
type ListError struct {
	Dir  string // where it ran; may be ""
	Text string
}

func (e *ListError) Error() string {
	if e.Dir == "" {
		return e.Text
	}
	return fmt.Sprintf("%s: the go command cannot list the packages: %s (correct that, then look again: go list ./...)", shown(e.Dir), e.Text)
}

// A ScopeError reports a -scope flag that cannot mean what it was meant to.
type ScopeError struct {
	Flag string
	What string // what the flag holds that it should not
}

func (e *ScopeError) Error() string {
	return fmt.Sprintf("-scope=%s: the list holds %s (see the import paths: go list -deps)", e.Flag, e.What)
}

// shown returns path as the user sees it: relative to the current directory
// where it is below that, else as it is.
func shown(path string) string {
	if !filepath.IsAbs(path) {
		return path
	}
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(wd, path)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return rel
}
