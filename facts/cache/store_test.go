package cache

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var long = flag.Bool("long", false, "try everything, not a sample")

// TestMain makes the test binary the store of a Client, too.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		atStart()
		if err := Serve(os.Stdin, os.Stdout, os.Args[2], 0); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// atStart runs in the process of a store before that is opened.
var atStart = func() {}

// helper is the command for a Client.
func helper(t testing.TB, dir string, env ...string) *exec.Cmd {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "serve", dir)
	cmd.Env = append(os.Environ(), env...)
	return cmd
}

func start(t testing.TB, dir string) *Client {
	t.Helper()
	c, err := Start(helper(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closed(t testing.TB, s interface{ Close() error }) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func key(n int) Key {
	r := NewRecipe("test")
	r.Int(int64(n))
	return r.Sum()
}

// value is what tests put under key(n): of all sizes, some beyond what Badger keeps
// beside its keys.
func value(n int) []byte {
	rnd := rand.New(rand.NewPCG(uint64(n), 1))
	b := make([]byte, n*n*17%200_000)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return b
}

// TestRecipe has lists that differ only in where one part ends.
func TestRecipe(t *testing.T) {
	seen := map[Key]string{}
	for _, parts := range [][]string{{"ab", "c"}, {"a", "bc"}, {"abc"}, {"abc", ""}, {"", "abc"}, {}} {
		for _, list := range []bool{false, true} {
			r := NewRecipe("")
			if list {
				r.Strings(parts)
			} else {
				for _, p := range parts {
					r.String(p)
				}
			}
			name := fmt.Sprint(parts, list)
			if was, ok := seen[r.Sum()]; ok && len(parts) > 0 {
				t.Errorf("%s and %s have one key", was, name)
			}
			seen[r.Sum()] = name
		}
	}
}

// TestValue flips each bit of a stored value, and cuts it off everywhere.
func TestValue(t *testing.T) {
	v := []byte(strings.Repeat("facts of a package ", 20))
	stored, err := seal(Facts, key(1), v)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := unseal(Facts, key(1), stored); err != nil || !bytes.Equal(got, v) {
		t.Fatalf("unseal: %q, %v", got, err)
	}
	for i := range stored {
		for bit := range 8 {
			bad := bytes.Clone(stored)
			bad[i] ^= 1 << bit
			if _, err := unseal(Facts, key(1), bad); err == nil {
				t.Errorf("byte %d, bit %d: not noticed", i, bit)
			}
		}
		if _, err := unseal(Facts, key(1), stored[:i]); err == nil {
			t.Errorf("cut off at %d: not noticed", i)
		}
	}
	if _, err := unseal(Run, key(1), stored); err == nil {
		t.Error("another kind: not noticed")
	}
	if _, err := unseal(Facts, key(2), stored); err == nil {
		t.Error("another key: not noticed")
	}
}

// TestStore keeps values over a restart, and those used last over a GC.
func TestStore(t *testing.T) {
	dir := t.TempDir()
	defer func(f func() uint64) { now = f }(now)
	hour := uint64(1000)
	now = func() uint64 { return hour }
	s := open(t, dir)
	for i := range 10 {
		if err := s.Put(Facts, key(i), value(100+i)); err != nil {
			t.Fatal(err)
		}
		hour++
	}
	check := func(want ...int) {
		t.Helper()
		for i := range 10 {
			v, ok := s.Get(Facts, key(i))
			have := false
			for _, w := range want {
				have = have || w == i
			}
			if ok != have || ok && !bytes.Equal(v, value(100+i)) {
				t.Errorf("value %d: %v, want %v", i, ok, have)
			}
		}
	}
	if _, ok := s.Get(Run, key(0)); ok {
		t.Error("a value of another kind")
	}
	closed(t, s)
	s = open(t, dir)
	for _, i := range []int{8, 9, 0} { // 0 is used last
		if _, ok := s.Get(Facts, key(i)); !ok {
			t.Errorf("%d is lost", i)
		}
		hour++
	}
	st, err := s.Stat()
	if err != nil || st.Values[Facts] != 10 || st.Values[Run] != 0 {
		t.Errorf("%+v, %v", st, err)
	}
	n, err := s.GC(st.Bytes[Facts] / 3)
	if err != nil || n != 7 {
		t.Errorf("GC: %d dropped, %v", n, err)
	}
	check(0, 8, 9)
	small, err := s.Stat()
	if err != nil || small.Disk > st.Disk {
		t.Errorf("GC: %d bytes before, %d after, %v", st.Disk, small.Disk, err)
	}
	closed(t, s)
	s = open(t, dir)
	check(0, 8, 9)
	closed(t, s)
}

// TestMany opens a store many times, as every run does that finds something new.
func TestMany(t *testing.T) {
	dir := t.TempDir()
	for i := range 40 {
		s := open(t, dir)
		if err := s.Put(Run, key(i), value(i)); err != nil {
			t.Fatal(err)
		}
		closed(t, s)
	}
	files, err := filepath.Glob(filepath.Join(folder(dir), "*"))
	if err != nil || len(files) > 40 {
		t.Errorf("%d files, %v, %v", len(files), err, files)
	}
	s := open(t, dir)
	for i := range 40 {
		if v, ok := s.Get(Run, key(i)); !ok || !bytes.Equal(v, value(i)) {
			t.Errorf("value %d: %v", i, ok)
		}
	}
	closed(t, s)
}

// TestMax closes a store that has outgrown its limit.
func TestMax(t *testing.T) {
	dir := t.TempDir()
	const max = 4 << 20
	s, err := Open(dir, max)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if err := s.Put(Facts, key(i), append(value(107), byte(i))); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, s)
	if n := diskUse(folder(dir)); n > max {
		t.Errorf("%d bytes on disk", n)
	}
	s = open(t, dir)
	defer s.Close()
	if st, err := s.Stat(); err != nil || st.Values[Facts] < 5 {
		t.Errorf("%+v, %v", st, err)
	}
}

// TestClear leaves alone what is not ours.
func TestClear(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := Clear(dir); !errors.Is(err, ErrInUse) {
		t.Errorf("Clear of an open store: %v", err)
	}
	closed(t, s)
	older := filepath.Join(dir, prefix+"0")
	for _, name := range []string{older, filepath.Join(dir, "mine"), filepath.Join(dir, prefix+"mine")} {
		if err := os.Mkdir(name, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := Clear(dir); err != nil {
		t.Fatal(err)
	}
	var left []string
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		left = append(left, f.Name())
	}
	if got, want := strings.Join(left, " "), "bfverify-facts-mine bfverify-facts.lock mine"; got != want {
		t.Errorf("left is %s, want %s", got, want)
	}
	if err := Clear(filepath.Join(dir, "none")); err != nil {
		t.Errorf("Clear of nothing: %v", err)
	}
}

// TestForeign opens folders in which other things are.
func TestForeign(t *testing.T) {
	for name, put := range map[string]func(dir string) error{
		"a file in our place":        func(dir string) error { return os.WriteFile(folder(dir), []byte("x"), 0o666) },
		"a manifest of another kind": func(dir string) error { return files(folder(dir), "MANIFEST", "no manifest at all") },
		"a table cut off":            func(dir string) error { return files(folder(dir), "000001.sst", "x") },
		"an older layout":            func(dir string) error { return files(filepath.Join(dir, prefix+"0"), "MANIFEST", "old") },
		"a gc that was killed":       func(dir string) error { return files(folder(dir)+".new", "MANIFEST", "new") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := put(dir); err != nil {
				t.Fatal(err)
			}
			s := open(t, dir)
			if _, ok := s.Get(Facts, key(1)); ok {
				t.Error("a value in an empty store")
			}
			if err := s.Put(Facts, key(1), value(1)); err != nil {
				t.Error(err)
			}
			closed(t, s)
			s = open(t, dir)
			if _, ok := s.Get(Facts, key(1)); !ok {
				t.Error("a value is lost")
			}
			closed(t, s)
		})
	}
}

func files(dir, name, content string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666)
}

// TestDamage changes bytes of the store's files. A value is as it was put, or gone.
func TestDamage(t *testing.T) {
	whole := t.TempDir()
	s := open(t, whole)
	const n = 12
	for i := range n {
		if err := s.Put(Facts, key(i), value(20+i)); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, s)
	var names []string
	var sizes []int64
	var total int64
	err := filepath.WalkDir(folder(whole), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Size() > 0 {
			rel, _ := filepath.Rel(whole, name)
			names, sizes, total = append(names, rel), append(sizes, info.Size()), total+info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	tries := 40
	if *long {
		tries = 4000
	}
	rnd := rand.New(rand.NewPCG(7, 7))
	lost := 0
	for try := range tries {
		file := try % len(names) // each file gets as many
		at := rnd.Int64N(sizes[file])
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(filepath.Join(dir, names[file]), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		var b [1]byte
		f.ReadAt(b[:], at)
		b[0] ^= byte(1 << rnd.IntN(8))
		if _, err := f.WriteAt(b[:], at); err != nil {
			t.Fatal(err)
		}
		f.Close()
		c, err := Start(helper(t, dir))
		if err != nil {
			lost++
			continue // no cache is an answer, too
		}
		for i := range n {
			if v, ok := c.Get(Facts, key(i)); !ok {
				lost++
			} else if !bytes.Equal(v, value(20+i)) {
				t.Fatalf("byte %d of %s: value %d is wrong", at, names[file], i)
			}
		}
		c.Close()
		os.RemoveAll(dir)
	}
	if lost == 0 {
		t.Error("nothing was lost: no byte that matters was changed")
	}
}

// TestKill kills the process that has the store open while values are put. What was
// put before is there afterwards.
func TestKill(t *testing.T) {
	rounds := 6
	if *long {
		rounds = 200
	}
	dir := t.TempDir()
	rnd := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	next, done := 0, 0
	for round := range rounds {
		c := start(t, dir)
		for i := max(0, done-40); i < done; i++ { // of the rounds before
			if v, ok := c.Get(Facts, key(i)); !ok || !bytes.Equal(v, value(i)) {
				t.Fatalf("round %d: value %d of %d: %v", round, i, done, ok)
			}
		}
		time.AfterFunc(time.Duration(rnd.IntN(40))*time.Millisecond, func() { c.cmd.Process.Kill() })
		for c.err == nil {
			c.Put(Facts, key(next), value(next))
			if c.err == nil {
				next++
			}
		}
		if c.Close() == nil {
			t.Fatal("a store that was killed closes without error")
		}
		done = next
	}
	t.Logf("%d values in %d rounds", done, rounds)
}

// TestInUse starts two clients at once.
func TestInUse(t *testing.T) {
	dir := t.TempDir()
	first := start(t, dir)
	if _, err := Start(helper(t, dir)); !errors.Is(err, ErrInUse) {
		t.Errorf("the second: %v", err)
	}
	first.Put(Facts, key(1), value(1))
	time.AfterFunc(Wait/10, func() { first.Close() })
	second := start(t, dir) // waits
	if _, ok := second.Get(Facts, key(1)); !ok {
		t.Error("what the first put is not there")
	}
	closed(t, second)
}

// TestGone has a process that never answers, and one that does not start.
func TestGone(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if c, err := Start(exec.Command(exe, "-test.run=^$")); err == nil {
		t.Errorf("a process that is no store: %v", c)
	}
	if _, err := Start(exec.Command(filepath.Join(t.TempDir(), "none"))); err == nil {
		t.Error("a process that is not there")
	}
	if _, err := Start(helper(t, "/dev/null/none")); err == nil || !strings.Contains(err.Error(), "/dev/null") {
		t.Errorf("a folder that cannot be: %v", err)
	}
}
