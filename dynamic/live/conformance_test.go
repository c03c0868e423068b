package live

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestConformance runs the tests that the Go tree has for its race detector: a test
// whose name begins with TestRace must be reported, one that begins with TestNoRace
// not.
func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the standard library, which takes a minute or two the first time")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("the run time is for linux/amd64 and linux/arm64")
	}
	dir := filepath.Join(runtime.GOROOT(), "src/runtime/race")
	files, _ := filepath.Glob(filepath.Join(dir, "testdata/*_test.go"))
	bin := filepath.Join(t.TempDir(), "race.test")
	args := []string{"-runtime=slim", "-C", dir, "-c", "-o", bin}
	for _, f := range files {
		if filepath.Base(f) != "cgo_test.go" { // runs go run -race
			args = append(args, f)
		}
	}
	var out bytes.Buffer
	c, err := ParseArgs("test", args)
	if err != nil {
		t.Fatal(err)
	}
	if status, err := c.Run(Streams{Out: &out, Err: &out}); status != 0 || err != nil {
		t.Fatalf("status %d, %v\n%s", status, err, &out)
	}
	cmd := exec.Command(bin, "-test.v")
	cmd.Dir = filepath.Join(dir, "testdata") // some tests read their own files
	// With more processors some of the races do not happen; see race_test.go there.
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GORACE=suppress_equal_stacks=0 atexit_sleep_ms=0")
	output, _ := cmd.CombinedOutput() // races make it fail
	agreed, skipped := 0, 0
	for part := range strings.SplitSeq(string(output), "=== RUN   Test") {
		name, text, _ := strings.Cut(part, "\n")
		raced := strings.Contains(text, "WARNING: DATA RACE") || strings.Contains(text, "fatal error: concurrent map")
		switch {
		case !strings.HasPrefix(name, "Race") && !strings.HasPrefix(name, "NoRace"):
		case strings.Contains(text, "--- SKIP:"):
			skipped++
		case raced != strings.HasPrefix(name, "Race"):
			t.Errorf("%s: raced is %v\n%.3000s", name, raced, text)
		default:
			agreed++
		}
	}
	t.Logf("%d agree, %d skipped", agreed, skipped)
	if agreed < 300 || !bytes.Contains(output, []byte("ALL TESTS COMPLETE")) {
		t.Errorf("%d tests agree; the end is\n%s", agreed, output[max(0, len(output)-3000):])
	}
}
