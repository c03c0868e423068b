package cache

import (
	"bytes"
	"path/filepath"
	"testing"
)

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
		t.Errorf("%d files, %v", len(files), err)
	}
	s := open(t, dir)
	for i := range 40 {
		if v, ok := s.Get(Run, key(i)); !ok || !bytes.Equal(v, value(i)) {
			t.Errorf("value %d: %v", i, ok)
		}
	}
	closed(t, s)
}
