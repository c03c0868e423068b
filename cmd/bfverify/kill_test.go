package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

var kills = flag.Int("kills", 2, "kill so many runs")

// TestKilled kills runs at random moments, with the process that has their cache or
// without, and starts two at once. What a run prints in the end is what it prints
// without a cache.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	edit := func(n int) {
		write("main.go", fmt.Sprintf("package main\n\nvar x int\n\nfunc main() {\n\tgo func() { x = %d }()\n\tx++\n}\n", n))
	}
	write("go.mod", "module m\n\ngo 1.26\n")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(dir, "kept")
	command := func(cache string) (*exec.Cmd, *bytes.Buffer) {
		cmd := exec.Command(exe, "-cache", cache, "-q", ".")
		cmd.Args[0] = "bfverify" // see TestMain
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		var out bytes.Buffer
		cmd.Stdout = &out
		return cmd, &out
	}
	verdict := func(cache string) string {
		cmd, out := command(cache)
		if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != exitOpen {
			t.Fatalf("bfverify: %v\n%s", err, out)
		}
		return out.String()
	}
	edit(0)
	want := verdict("off")
	rnd := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	for i := range *kills {
		edit(i + 1)
		cmd, out := command(kept)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		after := time.Duration(rnd.IntN(1500)) * time.Millisecond
		pid := cmd.Process.Pid
		if rnd.IntN(2) > 0 {
			pid = -pid // all that it started, too
		}
		kill := time.AfterFunc(after, func() { syscall.Kill(pid, syscall.SIGKILL) })
		cmd.Wait()
		kill.Stop()
		if cmd.ProcessState.ExitCode() >= 0 && out.String() != want {
			t.Errorf("not killed in %v: %s", after, out)
		}
		if i%5 > 0 {
			continue
		}
		if got := verdict(kept); got != want {
			t.Errorf("killed after %v, then: %s\nwant: %s", after, got, want)
		}
	}
	edit(-1)
	a, first := command(kept)
	b, second := command(kept)
	for _, cmd := range []*exec.Cmd{a, b} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	a.Wait()
	b.Wait()
	if first.String() != want || second.String() != want {
		t.Errorf("two at once:\n%s%swant:\n%s", first, second, want)
	}
}
