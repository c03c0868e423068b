package load

import (
	"context"
	"errors"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// An explainer turns what the go command and the type checker said into one
// error that names the cause. One cause gives many messages (a missing package
// makes every use of it undefined), so causes are tried in order and the first
// that holds is the error:
//
//	(R1) a newer Go is needed      all else follows from it
//	(R2) a model does not fit      the user's code is not to blame
//	(R3) import cycle              a package in it is never checked
//	(R4) cgo without C compiler    C names and excluded files are undefined
//	(R5) a dependency is missing   its names are undefined
//	(R6) a pattern matched nothing
//	(R7) the code is wrong
type explainer struct {
	ctx      context.Context
	dir      string // absolute
	env      []string
	patterns []string
	tags     string
	models   map[string]*Model // by file name
	build    *Build
}

// A finding is one message, with the package that it was found in.
type finding struct {
	Diag
	file string // absolute; Pos.Filename is for people
	kind packages.ErrorKind
	pkg  *packages.Package
}

// check returns the error that roots hold, or nil when all is well.
func (x *explainer) check(roots []*packages.Package) error {
	all := x.findings(roots)
	if len(all) > 0 {
		return x.explain(roots, all)
	}
	if unmatched := x.unmatched(roots); len(unmatched) > 0 {
		return x.noMatch(unmatched, "")
	}
	// (R7) what the linker would say
	for _, p := range roots {
		if p.IllTyped {
			return &CodeError{Diags: []Diag{{Msg: p.ID + ": does not type-check"}}, Next: "see why: go vet " + p.PkgPath}
		}
		if p.Name == "main" && p.ForTest == "" && len(p.Syntax) > 0 && !isTestMain(p) {
			if _, ok := p.Types.Scope().Lookup("main").(*types.Func); !ok {
				pos := p.Fset.Position(p.Syntax[0].Name.Pos())
				pos.Filename = shown(pos.Filename)
				return &CodeError{
					Diags: []Diag{{Pos: pos, Msg: "function main is undeclared in the main package"}},
					Next:  "write it, then: go vet " + p.PkgPath,
				}
			}
		}
	}
	return nil
}

// findings returns the messages of all packages, sorted and each once.
func (x *explainer) findings(roots []*packages.Package) []finding {
	var all []finding
	seen := make(map[string]bool)
	done := make(map[*packages.Package]bool)
	visit := func(p *packages.Package) {
		for _, e := range p.Errors {
			f := x.finding(p, e)
			if strings.HasPrefix(f.Msg, "\t") && len(all) > 0 { // go on about the last message
				last := &all[len(all)-1]
				if last.pkg == p && !strings.Contains(last.Msg, f.String()) {
					last.Msg += "\n\t" + f.Pos.String() + ": " + strings.TrimSpace(f.Msg)
				}
				continue
			}
			all = append(all, f)
		}
	}
	for _, p := range roots {
		closure(p, done, visit)
	}
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		if a.file != b.file {
			return a.file < b.file
		}
		if a.Pos.Line != b.Pos.Line {
			return a.Pos.Line < b.Pos.Line
		}
		if a.Pos.Column != b.Pos.Column {
			return a.Pos.Column < b.Pos.Column
		}
		return a.kind < b.kind
	})
	kept := all[:0]
	for _, f := range all {
		if key := f.String(); !seen[key] {
			seen[key] = true
			kept = append(kept, f)
		}
	}
	return kept
}

// leadingPos matches a position at the start of a message.
var leadingPos = regexp.MustCompile(`^([^\s:][^:\n]*\.go):(\d+):(?:(\d+):)? `)

// finding converts an error of go/packages. The go command gives paths relative
// to where it ran, and for wrong test signatures puts them into the message.
func (x *explainer) finding(p *packages.Package, e packages.Error) finding {
	f := finding{Diag: Diag{Msg: strings.TrimRight(e.Msg, "\n")}, kind: e.Kind, pkg: p}
	file, line, col := splitPos(e.Pos)
	if m := leadingPos.FindStringSubmatch(f.Msg); file == "" && m != nil {
		file = m[1]
		line, _ = strconv.Atoi(m[2])
		col, _ = strconv.Atoi(m[3])
		f.Msg = f.Msg[len(m[0]):]
	}
	if file == "" {
		return f
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(x.dir, file)
	}
	f.file = file
	f.Pos = token.Position{Filename: shown(file), Line: line, Column: col}
	return f
}

// splitPos takes "file:line:col", "file:line", "-" or "" apart.
func splitPos(s string) (file string, line, col int) {
	if s == "" || s == "-" {
		return "", 0, 0
	}
	var nums []int
	for len(nums) < 2 {
		i := strings.LastIndexByte(s, ':')
		if i < 0 {
			break
		}
		n, err := strconv.Atoi(s[i+1:])
		if err != nil {
			break
		}
		nums = append(nums, n)
		s = s[:i]
	}
	switch len(nums) {
	case 1:
		return s, nums[0], 0
	case 2:
		return s, nums[1], nums[0]
	}
	return s, 0, 0
}

// explain returns the error for findings, of which there is at least one.
func (x *explainer) explain(roots []*packages.Package, all []finding) error {
	for _, f := range all { // (R1)
		if err := x.version(f.Msg, x.where(f)); err != nil {
			return err
		}
	}
	if goMinor(x.build.GoVersion) > goMinor(runtime.Version()) { // (R1)
		for _, f := range all {
			if x.models[f.file] == nil && f.kind != packages.ListError && under(f.file, filepath.Join(x.build.GOROOT, "src")) {
				return x.tooOld(x.where(f), x.build.GoVersion)
			}
		}
	}
	if err := x.model(all); err != nil { // (R2)
		return err
	}
	for _, f := range all { // (R3)
		if err := x.cycle(roots, f); err != nil {
			return err
		}
	}
	for _, f := range all { // (R4)
		if err := x.cgo(roots, f); err != nil {
			return err
		}
	}
	unparsed := make(map[*packages.Package]bool)
	for _, f := range all {
		if f.kind == packages.ParseError {
			unparsed[f.pkg] = true
		}
	}
	var missing, unmatched, code []finding
	for _, f := range all {
		switch {
		case f.kind == packages.TypeError && unparsed[f.pkg]:
			// follows from what the parser left out
		case f.kind == packages.ListError && f.file == "" && noMatch.MatchString(f.Msg):
			unmatched = append(unmatched, f)
		case f.kind == packages.ListError && missingDep.MatchString(f.Msg):
			missing = append(missing, f)
		case strings.HasPrefix(f.Msg, "could not import "):
			// follows from an error of the package that is imported
		default:
			code = append(code, f)
		}
	}
	if len(missing) > 0 { // (R5)
		return x.dependency(missing)
	}
	if len(unmatched) > 0 { // (R6)
		var pats []string
		for _, f := range unmatched {
			pats = append(pats, f.pkg.ID)
		}
		return x.noMatch(pats, unmatched[0].Msg)
	}
	if len(code) == 0 {
		code = all
	}
	return x.code(code) // (R7)
}

// where names the place of a finding for people: its file, or its package.
func (x *explainer) where(f finding) string {
	if f.file != "" {
		return f.Pos.String()
	}
	if f.pkg != nil {
		return f.pkg.ID
	}
	return shown(x.dir)
}

// failed returns the error for a go/packages that gave no packages.
func (x *explainer) failed(err error) error {
	if errors.Is(err, exec.ErrNotFound) || strings.Contains(err.Error(), exec.ErrNotFound.Error()) {
		return &GoCommandError{Err: err}
	}
	text := err.Error()
	if _, after, ok := strings.Cut(text, "stderr: "); ok {
		text = after
	}
	return x.failedText(text)
}

// failedText returns the error for what a failed go command wrote to stderr.
func (x *explainer) failedText(text string) error {
	var lines []string
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if !strings.HasPrefix(line, "go: downloading ") && !strings.HasPrefix(line, "go: finding ") {
			lines = append(lines, line)
		}
	}
	text = strings.TrimPrefix(strings.Join(lines, "\n"), "go: ")
	if err := x.version(text, ""); err != nil {
		return err
	}
	if noModule.MatchString(text) && x.build.GoMod == "" && x.build.GoWork == "" {
		return &NoModuleError{Dir: x.dir}
	}
	f := finding{Diag: Diag{Msg: text}}
	if m := leadingPos.FindStringSubmatch(text); m != nil {
		f = x.finding(nil, packages.Error{Msg: text})
	}
	if missingDep.MatchString(text) {
		return x.dependency([]finding{f})
	}
	if noMatch.MatchString(text) {
		return x.noMatch(x.patterns, text)
	}
	return &ListError{Dir: x.dir, Text: text}
}

var (
	requiresGo  = regexp.MustCompile(`(\S+) requires go >= ([\d.]+\w*)(?: \(running go ([\d.]+\w*))?`)
	newerGo     = regexp.MustCompile(`requires newer Go version (\S+)`)
	noToolchain = regexp.MustCompile(`(?:download|cannot find) "?(go[\d.]+\w*)"?.*(?:toolchain not available|not found|in PATH|disabled|GOPROXY)`)
	lineVersion = regexp.MustCompile(`(?m)^(\S*go\.(?:mod|work)):\d+: invalid go version '([^']*)'`)
)

// version returns the error for text that asks for a newer Go, or nil.
func (x *explainer) version(text, where string) error {
	if m := requiresGo.FindStringSubmatch(text); m != nil {
		if where == "" {
			where = m[1]
			if where == "go.mod" && x.build.GoMod != "" {
				where = shown(x.build.GoMod)
			}
		}
		have := x.build.GoVersion
		if m[3] != "" {
			have = "go" + m[3]
		}
		needs := release("go" + m[2])
		next := "use it: GOTOOLCHAIN=" + needs + " bfverify " + strings.Join(x.patterns, " ")
		if goMinor(needs) > goMinor(runtime.Version()) {
			next = "build bfverify with it: " + rebuild(needs)
		}
		return &VersionError{Where: where, Needs: needs, Have: have, What: "the go command",
			Next: next + "; or lower the go line: go mod edit -go=" + language0(have)}
	}
	if m := noToolchain.FindStringSubmatch(text); m != nil {
		return &VersionError{Where: shown(x.dir), Needs: m[1], Have: runtime.Version(), What: "this",
			Next: m[1] + " cannot be downloaded: lower the go line: go mod edit -go=" + language0(runtime.Version()) + " -toolchain=none"}
	}
	if m := newerGo.FindStringSubmatch(text); m != nil {
		return x.tooOld(where, m[1])
	}
	return nil
}

// tooOld returns the error for code that bfverify's own parser and type checker
// are too old for.
func (x *explainer) tooOld(where, needs string) error {
	return &VersionError{Where: where, Needs: needs, Have: runtime.Version(), What: "the Go that bfverify was built with",
		Next: "build it again: " + rebuild(release(needs))}
}

// rebuild returns the command that builds bfverify with another Go.
func rebuild(v string) string {
	return "GOTOOLCHAIN=" + v + " go install github.com/bfverify/bfverify/cmd/bfverify@latest"
}

// release returns the first release of a language version: "go1.27" becomes
// "go1.27.0". Other versions stay.
func release(v string) string {
	if strings.Count(v, ".") == 1 && !strings.ContainsAny(v, "rb") {
		return v + ".0"
	}
	return v
}

// language0 returns the version for a go line: "go1.26.8" becomes "1.26".
func language0(v string) string {
	parts := strings.SplitN(strings.TrimPrefix(v, "go"), ".", 3)
	if len(parts) < 2 {
		return "1.26"
	}
	return parts[0] + "." + parts[1]
}

// goMinor returns 26 for "go1.26.8", and a large number for a version that is
// no release.
func goMinor(v string) int {
	parts := strings.SplitN(strings.TrimPrefix(v, "go1."), ".", 2)
	digits := strings.TrimRightFunc(parts[0], func(r rune) bool { return r < '0' || r > '9' })
	if i := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		digits = digits[:i]
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 1 << 20
	}
	return n
}

// model returns the error for findings that models brought about, or nil: a
// finding in a model, or in a package of std that has one. std alone
// type-checks.
func (x *explainer) model(all []finding) error {
	src := filepath.Join(x.build.GOROOT, "src")
	blamed := make(map[string]bool)
	pkgs := make(map[string]bool)
	e := &ModelError{GoVersion: x.build.GoVersion}
	for _, f := range all {
		if f.kind == packages.ListError || strings.HasPrefix(f.Msg, "could not import ") {
			continue
		}
		var list []*Model
		if m := x.models[f.file]; m != nil {
			list = []*Model{m}
		} else if f.pkg != nil && under(f.pkg.Dir, src) {
			for _, m := range x.models {
				if m.Path == strings.TrimPrefix(f.pkg.PkgPath, "vendor/") {
					list = append(list, m)
				}
			}
		}
		if len(list) == 0 {
			continue
		}
		for _, m := range list {
			blamed[shown(m.At)] = true
			pkgs[m.Path] = true
			e.User = e.User || m.User()
		}
		e.Diags = append(e.Diags, f.Diag)
	}
	if len(e.Diags) == 0 {
		return nil
	}
	for file := range blamed {
		e.Files = append(e.Files, file)
	}
	sort.Strings(e.Files)
	for path := range pkgs {
		e.Packages = append(e.Packages, path)
	}
	sort.Strings(e.Packages)
	return e
}

var importStack = regexp.MustCompile(`^import cycle not allowed(?: in test)?: import stack: \[(.*)\]`)

// cycleStack returns the import paths of a cycle that msg reports, or nil.
func cycleStack(msg string) []string {
	m := importStack.FindStringSubmatch(msg)
	if m == nil {
		return nil
	}
	var stack []string
	for _, path := range strings.Fields(m[1]) {
		if !strings.HasPrefix(path, "[") { // "p [q.test]" is p
			stack = append(stack, path)
		}
	}
	if len(stack) > 1 { // drop what leads to the cycle
		last := stack[len(stack)-1]
		for i, path := range stack {
			if path == last {
				return stack[i:]
			}
		}
	}
	return stack
}

// cycle returns the error for a finding that reports a cycle, or nil.
func (x *explainer) cycle(roots []*packages.Package, f finding) error {
	stack := cycleStack(f.Msg)
	if len(stack) < 2 {
		return nil
	}
	e := &CycleError{Stack: stack, Test: strings.HasPrefix(f.Msg, "import cycle not allowed in test")}
	packages.Visit(roots, func(p *packages.Package) bool {
		if p.PkgPath != stack[0] || e.Pos.Filename != "" {
			return true
		}
		for _, file := range p.Syntax {
			for _, spec := range file.Imports {
				if path, _ := strconv.Unquote(spec.Path.Value); path == stack[1] {
					e.Pos = p.Fset.Position(spec.Pos())
					e.Pos.Filename = shown(e.Pos.Filename)
				}
			}
		}
		return true
	}, nil)
	return e
}

var (
	noCompiler = regexp.MustCompile(`C compiler "([^"]*)" not found|exec: "([^"]*)": executable file not found`)
	excluded   = regexp.MustCompile(`build constraints exclude all Go files in (.*)`)
)

// cgo returns the error for a finding that a missing C compiler or disabled cgo
// explains, or nil.
func (x *explainer) cgo(roots []*packages.Package, f finding) error {
	if m := noCompiler.FindStringSubmatch(f.Msg); m != nil && f.kind == packages.ListError {
		cc := m[1] + m[2]
		pkg := f.pkg.PkgPath
		if pkg == "runtime/cgo" { // name who wants it, the user's packages before those of std
			packages.Visit(roots, nil, func(p *packages.Package) {
				if p.Imports["runtime/cgo"] != nil && (pkg == "runtime/cgo" || !under(p.Dir, filepath.Join(x.build.GOROOT, "src"))) {
					pkg = p.PkgPath
				}
			})
		}
		return &CgoError{Package: pkg, What: "the C compiler " + strconv.Quote(cc) + " is not there",
			Next: "install it, as with: apt-get install gcc; or name another with CC=; or go without, if the program builds that way: CGO_ENABLED=0 bfverify " + strings.Join(x.patterns, " ")}
	}
	if x.build.Cgo || f.pkg == nil {
		return nil
	}
	if m := excluded.FindStringSubmatch(f.Msg); m != nil && x.cgoFiles(f.pkg.IgnoredFiles, strings.TrimSpace(m[1])) {
		return x.cgoOff(f.pkg.PkgPath)
	}
	// Some files were excluded, and what they declare is undefined.
	if f.kind == packages.TypeError && x.cgoFiles(f.pkg.IgnoredFiles, "") && strings.Contains(f.Msg, "undefined: ") {
		return x.cgoOff(f.pkg.PkgPath)
	}
	return nil
}

// cgoOff returns the error for a package whose files cgo, being off, excludes.
func (x *explainer) cgoOff(pkg string) error {
	next := "switch it on: CGO_ENABLED=1 bfverify " + strings.Join(x.patterns, " ")
	if x.build.cc != "" {
		if _, err := exec.LookPath(strings.Fields(x.build.cc)[0]); err != nil {
			next = "install a C compiler, as with: apt-get install gcc; then: CGO_ENABLED=1 bfverify " + strings.Join(x.patterns, " ")
		}
	}
	return &CgoError{Package: pkg, What: "CGO_ENABLED is 0, which excludes its files with import \"C\"", Next: next}
}

var importC = regexp.MustCompile(`(?m)^import\s+"C"|^\s+"C"\s*$`)

// cgoFiles reports whether one of the files, or of the Go files in dir where
// dir is not "", imports "C".
func (x *explainer) cgoFiles(files []string, dir string) bool {
	if dir != "" {
		found, _ := filepath.Glob(filepath.Join(dir, "*.go"))
		files = append(files[:len(files):len(files)], found...)
	}
	for _, file := range files {
		if src, err := os.ReadFile(file); err == nil && importC.Match(src) {
			return true
		}
	}
	return false
}

var (
	missingDep = regexp.MustCompile(`no required module provides package|missing go\.sum entry|cannot find module providing|` +
		`is not in std|cannot find package|module lookup disabled|inconsistent vendoring|not in your go\.mod|` +
		`updates to go\.mod needed|is replaced but not required|cannot load module|cannot find main module|dial tcp|` +
		`cannot query module|unrecognized import path|malformed module path|unknown revision|reading https?://|` +
		`module .* found \(.*\), but does not contain package|ambiguous import|verifying .*checksum mismatch|verifying module`)
	noMatch = regexp.MustCompile(`^no Go files in|directory not found|^no required module provides package \S+; to add it|` +
		`^package \S+ is not in std|does not contain (?:main module|modules listed)|is not in the workspace|` +
		`directory .* outside|contained in a module that is not one of the workspace modules|no such file or directory|` +
		`matched no packages|build constraints exclude all Go files|main module .* does not contain package|named files must`)
	noModule = regexp.MustCompile(`go\.mod file not found|does not contain main module|cannot find main module`)
	toAdd    = regexp.MustCompile(`to add(?: it)?:\n\t(go [^\n]+)`)
	toSync   = regexp.MustCompile(`run:\n\t(?:go: )?(?:\t)?(go [^\n]+)`)
)

// dependency returns the error for findings about imports without a module.
func (x *explainer) dependency(missing []finding) error {
	e := &DependencyError{}
	next := make(map[string]bool)
	for _, f := range missing {
		if noModule.MatchString(f.Msg) && x.build.GoMod == "" && x.build.GoWork == "" {
			return &NoModuleError{Dir: x.dir}
		}
		d := f.Diag
		switch {
		case strings.Contains(d.Msg, "is not in std"):
			next["correct the import path; see what there is: go list std"] = true
		case strings.Contains(d.Msg, "vendor"):
			next["bring vendor up to date: go mod vendor"] = true
		case strings.Contains(d.Msg, "missing go.sum entry"):
			next["go mod tidy; or, where go.mod is right and only the download is missing: go mod download"] = true
		case toAdd.MatchString(d.Msg):
			next[toAdd.FindStringSubmatch(d.Msg)[1]+"; or for all of them: go mod tidy"] = true
		case toSync.MatchString(d.Msg):
			next[toSync.FindStringSubmatch(d.Msg)[1]] = true
		case strings.Contains(d.Msg, "updates to go.mod"):
			next["go mod tidy"] = true
		default:
			next["fetch them, with network: go mod download; or put go.mod in order: go mod tidy"] = true
		}
		// The advice of the go command is given once, at the end.
		if i := strings.Index(d.Msg, "; to add"); i >= 0 {
			d.Msg = d.Msg[:i]
		}
		e.Diags = append(e.Diags, d)
	}
	var nexts []string
	for n := range next {
		nexts = append(nexts, n)
	}
	sort.Strings(nexts)
	if len(nexts) > 2 {
		nexts = []string{"go mod tidy"}
	}
	e.Next = strings.Join(nexts, "; ")
	return e
}

// noMatch returns the error for patterns without packages. why is what the go
// command said, or "".
func (x *explainer) noMatch(pats []string, why string) error {
	if x.build.GoMod == "" && x.build.GoWork == "" {
		for _, p := range pats {
			if noModule.MatchString(why) || why == "" && newPattern(p, x.dir).local {
				return &NoModuleError{Dir: x.dir}
			}
		}
	}
	if i := strings.Index(why, "; to add"); i >= 0 {
		why = why[:i]
	}
	if !x.build.Cgo {
		if pkg := x.cgoOnly(pats); pkg != "" {
			return x.cgoOff(pkg)
		}
	}
	e := &NoMatchError{Dir: x.dir, Patterns: pats, Why: why, Next: "see what there is: go list ./..."}
	if x.build.GoWork != "" && strings.Contains(why, "go.work") || x.build.GoWork != "" && x.build.GoMod == "" {
		e.Next = "name the modules of " + shown(x.build.GoWork) + ", or all of them: bfverify work"
	} else if strings.Contains(why, "is not in std") {
		e.Next = "for a directory write ./" + pats[0] + "; see what there is: go list ./..."
	} else if strings.Contains(why, "build constraints exclude") {
		e.Next = "name the tags, GOOS or GOARCH that the files ask for: bfverify -tags=... " + pats[0]
	}
	return e
}

// cgoOnly returns the first package that pats match once cgo is on, or "".
func (x *explainer) cgoOnly(pats []string) string {
	path, err := exec.LookPath("go")
	if err != nil || x.ctx == nil {
		return ""
	}
	args := []string{"list", "-e", "-find", "-f", "{{if .CgoFiles}}{{.ImportPath}}{{end}}"}
	if x.tags != "" {
		args = append(args, "-tags="+x.tags)
	}
	env := append(x.env[:len(x.env):len(x.env)], "CGO_ENABLED=1")
	out, _, err := run(x.ctx, x.dir, env, path, append(append(args, "--"), pats...)...)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return first
}

// unmatched returns the patterns with "..." that match none of the roots, and
// all patterns when there are no roots. The go command only warns of these.
func (x *explainer) unmatched(roots []*packages.Package) []string {
	if len(roots) == 0 {
		return x.patterns
	}
	var list []string
	for _, text := range x.patterns {
		if !strings.Contains(text, "...") {
			continue
		}
		pat := newPattern(text, x.dir)
		found := false
		for _, p := range roots {
			if pat.match(p, x.build.GOROOT) {
				found = true
				break
			}
		}
		if !found {
			list = append(list, text)
		}
	}
	return list
}

// code returns the error for code that does not compile.
func (x *explainer) code(found []finding) error {
	e := &CodeError{}
	pkgs := make(map[string]bool)
	var paths []string
	for _, f := range found {
		e.Diags = append(e.Diags, f.Diag)
		if f.pkg != nil {
			if path := strings.TrimSuffix(f.pkg.PkgPath, ".test"); !pkgs[path] {
				pkgs[path] = true
				paths = append(paths, path)
			}
		}
		if f.pkg != nil && goMinor(x.build.GoVersion) > goMinor(runtime.Version()) {
			e.Hint = "the go command is " + x.build.GoVersion + " and bfverify was built with " + runtime.Version() + ", which may be too old for this code"
		}
	}
	if len(paths) > 3 {
		paths = x.patterns
	}
	e.Next = "correct it and look again: go vet " + strings.Join(paths, " ")
	return e
}
