package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"os/exec"
	"sort"
	"strings"
	"unicode"
)

// A Build is the configuration that a verdict holds for. Two loads with equal
// Builds and equal files give equal programs.
type Build struct {
	GOOS       string   // target system
	GOARCH     string   // target architecture
	Subarch    string   // its level, such as "GOAMD64=v1"; "" when it has none
	Tags       []string // build tags of -tags and GOFLAGS, sorted; with race, msan and asan from GOFLAGS
	Cgo        bool     // cgo is enabled
	GoVersion  string   // of the go command, such as "go1.26.8"
	Lang       string   // newest language version among the modules named, such as "go1.26"; "" without module
	GOROOT     string   // where std comes from
	Experiment string   // GOEXPERIMENT, where it differs from the default
	FIPS140    string   // GOFIPS140, which selects a version of the crypto packages
	Flags      string   // GOFLAGS as given
	GoMod      string   // go.mod of the main module; "" without
	GoWork     string   // go.work in use; "" without

	cc string // the C compiler's command, for messages
}

// String returns the build on one line, as printed with a verdict:
//
//	linux/amd64 go1.26.8 lang=go1.26 cgo tags=integration,race
func (b *Build) String() string {
	s := b.GOOS + "/" + b.GOARCH + " " + b.GoVersion
	if b.Lang != "" {
		s += " lang=" + b.Lang
	}
	if b.Cgo {
		s += " cgo"
	} else {
		s += " nocgo"
	}
	if len(b.Tags) > 0 {
		s += " tags=" + strings.Join(b.Tags, ",")
	}
	if b.Experiment != "" {
		s += " GOEXPERIMENT=" + b.Experiment
	}
	if _, level, _ := strings.Cut(b.Subarch, "="); level != "" && level != baseLevel[b.GOARCH] {
		s += " " + b.Subarch
	}
	if b.FIPS140 != "" && b.FIPS140 != "off" {
		s += " GOFIPS140=" + b.FIPS140
	}
	return s
}

// subarch names the variable that selects the level of each architecture, and
// baseLevel its default, which String leaves out.
var (
	subarch = map[string]string{
		"386": "GO386", "amd64": "GOAMD64", "arm": "GOARM", "arm64": "GOARM64",
		"mips": "GOMIPS", "mipsle": "GOMIPS", "mips64": "GOMIPS64", "mips64le": "GOMIPS64",
		"ppc64": "GOPPC64", "ppc64le": "GOPPC64", "riscv64": "GORISCV64", "wasm": "GOWASM",
	}
	baseLevel = map[string]string{
		"386": "sse2", "amd64": "v1", "arm": "7", "arm64": "v8.0",
		"mips": "hardfloat", "mipsle": "hardfloat", "mips64": "hardfloat", "mips64le": "hardfloat",
		"ppc64": "power8", "ppc64le": "power8", "riscv64": "rva20u64",
	}
)

// goEnv asks the go command in dir for the build configuration. Lang is left
// for the loaded packages to tell.
func goEnv(ctx context.Context, dir string, env []string, tags string) (*Build, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return nil, &GoCommandError{Err: err}
	}
	names := []string{"GOOS", "GOARCH", "CGO_ENABLED", "GOVERSION", "GOROOT", "GOEXPERIMENT",
		"GOFIPS140", "GOFLAGS", "GOMOD", "GOWORK", "CC"}
	for _, v := range subarch {
		names = append(names, v)
	}
	out, stderr, err := run(ctx, dir, env, path, append([]string{"env", "-json"}, names...)...)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err != nil {
		if stderr == "" {
			return nil, &GoCommandError{Err: err}
		}
		x := &explainer{dir: dir, build: &Build{}}
		return nil, x.failedText(stderr)
	}
	var vars map[string]string
	if err := json.Unmarshal(out, &vars); err != nil {
		return nil, &GoCommandError{Err: fmt.Errorf("go env -json: %w", err)}
	}
	b := &Build{
		GOOS:       vars["GOOS"],
		GOARCH:     vars["GOARCH"],
		Cgo:        vars["CGO_ENABLED"] == "1",
		GoVersion:  vars["GOVERSION"],
		GOROOT:     vars["GOROOT"],
		Experiment: vars["GOEXPERIMENT"],
		FIPS140:    vars["GOFIPS140"],
		Flags:      vars["GOFLAGS"],
		GoMod:      vars["GOMOD"],
		GoWork:     vars["GOWORK"],
		cc:         vars["CC"],
	}
	if b.GoMod == "/dev/null" || b.GoMod == "NUL" {
		b.GoMod = ""
	}
	if b.GoWork == "off" {
		b.GoWork = ""
	}
	if v := subarch[b.GOARCH]; v != "" && vars[v] != "" {
		b.Subarch = v + "=" + vars[v]
	}
	if b.Tags, err = buildTags(tags, b.Flags); err != nil {
		return nil, err
	}
	return b, nil
}

// buildTags returns the tags in force, sorted: those of -tags, or else of
// GOFLAGS, and those that flags in GOFLAGS imply. An -overlay in GOFLAGS is an
// error, because the files that it puts in place of others are not read here.
func buildTags(tags, goflags string) ([]string, error) {
	set := make(map[string]bool)
	for _, flag := range fields(goflags) {
		name, value, hasValue := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(flag, "-"), "-"), "=")
		switch name {
		case "tags":
			if tags == "" {
				tags = value
			}
		case "race", "msan", "asan":
			if !hasValue || value == "true" || value == "1" {
				set[name] = true
			}
		case "overlay":
			return nil, &ListError{Text: "GOFLAGS holds " + flag + ", but the files of an overlay are not read: put them in place, then go env -u GOFLAGS"}
		}
	}
	for _, tag := range strings.FieldsFunc(tags, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		set[tag] = true
	}
	list := make([]string, 0, len(set))
	for tag := range set {
		list = append(list, tag)
	}
	sort.Strings(list)
	return list, nil
}

// fields splits GOFLAGS as the go command does: at spaces, where a field may be
// wrapped in single or double quotes.
func fields(s string) []string {
	var list []string
	for {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
		if s == "" {
			return list
		}
		if q := s[0]; q == '\'' || q == '"' {
			if end := strings.IndexByte(s[1:], q); end >= 0 {
				list = append(list, s[1:1+end])
				s = s[end+2:]
				continue
			}
		}
		end := strings.IndexFunc(s, unicode.IsSpace)
		if end < 0 {
			end = len(s)
		}
		list = append(list, s[:end])
		s = s[end:]
	}
}

// run runs a command and returns what it wrote. A command that cannot start
// leaves stderr empty.
func run(ctx context.Context, dir string, env []string, path string, args ...string) (stdout []byte, stderr string, err error) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	cmd.Env = append(env[:len(env):len(env)], "PWD="+dir)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, "", err
	}
	return out.Bytes(), errs.String(), err
}

// newer reports whether version a is newer than b; both look like "go1.26.8".
func newer(a, b string) bool { return version.Compare(a, b) > 0 }
