package live

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

var long = flag.Bool("long", false, "TestRobust: the sizes of docs/dynamic.md, position-independent programs too; it needs -timeout 2h")

// watched builds the program in dir with more arguments, and returns its path.
func watched(t *testing.T, dir string, args ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds the standard library, which takes a minute or two the first time")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("the run time is for linux/amd64 and linux/arm64")
	}
	bin := filepath.Join(t.TempDir(), "prog")
	c, err := ParseArgs("build", append(args, "-runtime=slim", "-detector=ft", "-assume-open=all", "-o", bin, dir))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if status, err := c.Run(Streams{Out: &out, Err: &out}); status != 0 || err != nil {
		t.Fatalf("status %d, %v\n%s", status, err, &out)
	}
	return bin
}

// twins runs a program that is to be silent and, with one more argument, to be reported.
func twins(t *testing.T, bin string, env []string, racy string, args ...string) {
	t.Helper()
	run := func(args ...string) (string, int) {
		// A program that does not end is killed; how long it takes decides nothing else.
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, bin, args...)
		cmd.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0", "BFRACE=stats=1"), env...)
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	out, status := run(args...)
	if status != 0 || !strings.Contains(out, "done") || strings.Contains(out, "DATA RACE") {
		t.Errorf("%v %v: status %d\n%.3000s", env, args, status, out)
	}
	t.Logf("%v %v: %.300s", env, args, out)
	out, status = run(append([]string{racy}, args...)...)
	if status != 66 || !strings.Contains(out, "done") || !strings.Contains(out, "DATA RACE") {
		t.Errorf("%v %s %v: status %d\n%.3000s", env, racy, args, status, out)
	}
}

// TestRobust runs programs that do much of one thing, in its two forms: with a lock and
// without.
func TestRobust(t *testing.T) {
	if end, ok := t.Deadline(); *long && ok && time.Until(end) < time.Hour {
		t.Log("with -long all takes longer than a test may by default: add -timeout 2h, or choose some: -run 'Robust$/live'")
	}
	t.Setenv("CGO_ENABLED", "0")
	dir := "./testdata/robust"
	bin := watched(t, dir)
	for _, m := range []struct {
		mode     string
		n, large string
		env      []string
	}{
		{"live", "5000", "100000", nil},
		{"tree", "5000", "100000", nil},
		{"unwaited", "20000", "1000000", nil},
		{"objects", "4000", "300000", nil},
		{"timers", "2000", "20000", nil},
		{"readers", "500", "5000", nil},
		{"garbage", "60", "600", []string{"GOGC=5"}},
		{"garbage", "60", "600", []string{"GOGC=5", "GODEBUG=gccheckmark=1"}},
		{"allocated", "100", "2000", nil},
		{"heap", "64", "4096", nil},
		{"objects", "1000", "4000", []string{"GOMAXPROCS=1"}},
		{"tree", "2000", "20000", []string{"GOMAXPROCS=1"}},
		{"objects", "1000", "4000", []string{"GOMAXPROCS=2"}},
		{"tree", "2000", "20000", []string{"GOMAXPROCS=2"}},
		{"objects", "1000", "4000", []string{"GOMAXPROCS=8"}},
		{"tree", "2000", "20000", []string{"GOMAXPROCS=8"}},
		{"garbage", "60", "600", []string{"GOMAXPROCS=8", "GOGC=5"}},
	} {
		n := m.n
		if *long {
			n = m.large
		}
		t.Run(strings.Join(append([]string{m.mode}, m.env...), ","), func(t *testing.T) {
			twins(t, bin, m.env, "-racy", m.mode, n)
		})
	}
}

// TestOnePath runs a program that tells whether what it did was ordered: that, and nothing
// else, decides whether there is a report.
func TestOnePath(t *testing.T) {
	t.Setenv("CGO_ENABLED", "0")
	bin := watched(t, "./testdata/onepath")
	runs, races := 40, 0
	for i := range runs {
		cmd := exec.Command(bin, []string{"late"}[i%2:]...)
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "GOMAXPROCS="+string('1'+byte(i/2%4)))
		out, _ := cmd.CombinedOutput()
		want := bytes.Contains(out, []byte("race true"))
		if got := bytes.Contains(out, []byte("DATA RACE")); got != want || !want && !bytes.Contains(out, []byte("ordered true")) {
			t.Errorf("run %d: reported: %v\n%s", i, got, out)
		}
		if want {
			races++
		}
	}
	t.Logf("%d of %d runs had a race", races, runs)
}

// TestRobustPIE runs the programs where their addresses are random.
func TestRobustPIE(t *testing.T) {
	if !*long {
		t.Skip("it builds the standard library once more: -long")
	}
	t.Setenv("CGO_ENABLED", "0")
	bin := watched(t, "./testdata/robust", "-buildmode=pie")
	for range 5 {
		twins(t, bin, nil, "-racy", "tree", "1000")
		twins(t, bin, nil, "-racy", "objects", "500")
	}
}

// TestRobustCgo has C call and be called, also from threads of its own.
func TestRobustCgo(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("there is no C compiler")
	}
	t.Setenv("CGO_ENABLED", "1")
	bin := watched(t, "./testdata/cgo")
	for _, procs := range []string{"1", "2", "8"} {
		twins(t, bin, []string{"GOMAXPROCS=" + procs}, "racy")
	}
}

// TestLibraries asks for what other programs load.
func TestLibraries(t *testing.T) {
	for _, verb := range []string{"build", "run", "test"} {
		for _, mode := range []string{"plugin", "c-shared", "c-archive", "shared", "archive"} {
			_, err := ParseArgs(verb, []string{"-buildmode=" + mode, "."})
			if err == nil || !strings.Contains(err.Error(), "-buildmode="+mode) || !strings.Contains(err.Error(), "use exe or pie") {
				t.Errorf("%s -buildmode=%s: %v", verb, mode, err)
			}
			c := new(Command)
			if err := c.goflags("-buildmode=" + mode); err == nil || !strings.Contains(err.Error(), "use exe or pie") {
				t.Errorf("GOFLAGS=-buildmode=%s: %v", mode, err)
			}
		}
	}
}
