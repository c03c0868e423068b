package cache

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
)

func init() {
	atStart = func() {
		if n, err := strconv.ParseUint(os.Getenv("TEST_FILE_LIMIT"), 10, 64); err == nil {
			syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n})
		}
	}
}

// TestFull lets no file grow beyond a size, as on a full disk: the process of the
// store may die, the client says so, and later the store is of use again.
func TestFull(t *testing.T) {
	for _, limit := range []int{0, 1 << 10, 1 << 20, 40 << 20} {
		dir := t.TempDir()
		c := start(t, dir)
		c.Put(Facts, key(1), value(1))
		closed(t, c)
		failed := false
		if c, err := Start(helper(t, dir, fmt.Sprint("TEST_FILE_LIMIT=", limit))); err != nil {
			failed = true
		} else {
			for i := 2; i < 400; i++ {
				c.Put(Facts, key(i), value(i))
			}
			failed = c.Close() != nil
		}
		if !failed && limit < 20<<20 {
			t.Errorf("limit %d: nothing failed", limit)
		}
		c = start(t, dir)
		for i := 1; i < 400; i++ {
			if v, ok := c.Get(Facts, key(i)); ok && !bytes.Equal(v, value(i)) {
				t.Errorf("limit %d: value %d is wrong", limit, i)
			}
		}
		c.Put(Facts, key(1), value(1))
		if _, ok := c.Get(Facts, key(1)); !ok {
			t.Errorf("limit %d: the store is of no use afterwards", limit)
		}
		closed(t, c)
	}
}

// TestFullDisk fills a file system.
func TestFullDisk(t *testing.T) {
	for _, size := range []string{"64k", "1m", "2m"} {
		dir := t.TempDir()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
			t.Skip("a file system cannot be mounted here: ", err)
		}
		defer syscall.Unmount(dir, syscall.MNT_DETACH)
		for range 2 {
			c, err := Start(helper(t, dir))
			if err == nil {
				for i := range 100 {
					c.Put(Facts, key(i), value(i))
					if v, ok := c.Get(Facts, key(i)); ok && !bytes.Equal(v, value(i)) {
						t.Errorf("%s: value %d is wrong", size, i)
					}
				}
				err = c.Close()
			}
			if err == nil {
				t.Errorf("%s: nothing failed", size)
			}
		}
	}
}

// TestReadOnly reads a store as a user who may not write it.
func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := s.Put(Facts, key(1), value(1)); err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	empty := t.TempDir()
	for _, d := range []string{dir, empty} {
		err := filepath.WalkDir(d, func(name string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if e.IsDir() {
				return os.Chmod(name, 0o555)
			}
			return os.Chmod(name, 0o444)
		})
		if err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(d, 0o777)
		defer os.Chmod(folder(d), 0o777)
	}
	for up := filepath.Dir(dir); len(up) > 1; up = filepath.Dir(up) {
		if info, err := os.Stat(up); err == nil && info.Mode()&0o055 != 0o055 {
			if err := os.Chmod(up, info.Mode()|0o055); err != nil {
				t.Skip(err)
			}
		}
	}
	asNobody(t, func() {
		s, err := Open(dir, 0)
		if err != nil {
			t.Error(err)
			return
		}
		if v, ok := s.Get(Facts, key(1)); !ok || !bytes.Equal(v, value(1)) {
			t.Error("the value is not found")
		}
		if err := s.Put(Facts, key(2), value(2)); err != nil {
			t.Errorf("Put: %v", err)
		}
		if _, ok := s.Get(Facts, key(2)); ok {
			t.Error("a value was written")
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := Open(empty, 0); err == nil {
			t.Error("an empty folder that cannot be written has a store")
		}
	})
}

// asNobody runs f as a user without rights, where this process may do as it likes.
func asNobody(t *testing.T, f func()) {
	if os.Getuid() != 0 {
		f()
		return
	}
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread() // and the thread ends with the goroutine
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETFSUID, 65534, 0, 0); errno != 0 {
			t.Error(errno)
			return
		}
		f()
	}()
	<-done
}
