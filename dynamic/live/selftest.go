package live

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// selfTestSource is a program of many small ones: each is called what it is expected to
// show, and does one kind of synchronisation.
//
//go:embed tree/selftest/main.go
var selfTestSource []byte

// selfTestTime bounds the run of the program, not its build.
const selfTestTime = time.Minute

// selfTest builds and runs the programs with the overlay, unless that went well once
// before: signatures say that a Go tree has the functions that the run time needs, and
// the programs that they mean the same. A failure is a *Refusal.
func (o *Overlay) selfTest(dir, file string, env *goEnv, log io.Writer) error {
	verdict := filepath.Join(dir, "selftest-"+env.GOOS+"-"+env.GOARCH)
	if data, err := os.ReadFile(verdict); err == nil && string(data) == "ok\n" {
		return nil
	}
	refuse := func(why string) error {
		return &Refusal{env.GOROOT, env.GOVERSION, "self-test", why}
	}
	if env.GOOS != runtime.GOOS || env.GOARCH != runtime.GOARCH {
		return refuse(fmt.Sprintf("a program for %s/%s does not run here: build it on a machine of that kind", env.GOOS, env.GOARCH))
	}
	fmt.Fprintf(log, "bfverify: trying the run time in %s, once\n", env.GOVERSION)
	tmp, err := os.MkdirTemp("", "bfverify-selftest")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	src, bin := filepath.Join(tmp, "main.go"), filepath.Join(tmp, "selftest")
	if err := os.WriteFile(src, bytes.TrimPrefix(selfTestSource, []byte(tag)), 0o666); err != nil {
		return err
	}
	build := exec.Command(env.command, "build", "-o", bin, "-overlay="+file, "-tags=race", "-gcflags=all=-race", src)
	build.Dir = tmp
	// Nothing that the user set for his own programs, here or by go env -w.
	build.Env = append(append(os.Environ(), "GOENV=off", "GOFLAGS=", "GOWORK=off", "GOOS="+env.GOOS, "GOARCH="+env.GOARCH), env.vars...)
	if out, err := build.CombinedOutput(); err != nil {
		return refuse(fmt.Sprintf("it does not build: %v\n%s", err, out))
	}
	out, err := runFor(selfTestTime, bin)
	if err == nil {
		err = judge(out)
	}
	if err != nil {
		return refuse(err.Error())
	}
	if err := writeChanged(verdict, []byte("ok\n")); err != nil {
		return cacheError(err)
	}
	return nil
}

// runFor runs a program for some time at most and returns what it prints.
func runFor(d time.Duration, bin string) (string, error) {
	cmd := exec.Command(bin)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "BFRACE=")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return "", err
	}
	timer := time.AfterFunc(d, func() { cmd.Process.Kill() })
	err := cmd.Wait()
	if !timer.Stop() {
		return "", fmt.Errorf("it did not end within %v\n%s", d, out.String())
	}
	if code := cmd.ProcessState.ExitCode(); code != 66 {
		return "", fmt.Errorf("its exit status is not 66: %v\n%s", err, out.String())
	}
	return out.String(), nil
}

// judge looks at the output of the programs: between "begin NAME" and "end" there is to
// be a report if and only if NAME begins with "race".
func judge(out string) error {
	var wrong []string
	name, raced, n := "", false, 0
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if s, ok := strings.CutPrefix(line, "begin "); ok {
			name, raced = s, false
			n++
		}
		raced = raced || line == "WARNING: DATA RACE"
		if line == "end" && raced != strings.HasPrefix(name, "race") {
			wrong = append(wrong, name)
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("wrong in %s", strings.Join(wrong, ", "))
	}
	if !strings.Contains(out, fmt.Sprintf("all %d done\n", n)) {
		return fmt.Errorf("it did not come to its end:\n%s", out)
	}
	return nil
}
