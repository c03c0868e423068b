//go:build !unix

package cache

import (
	"io/fs"
	"os"
	"path/filepath"
)

// lock leaves it to Badger's own lock to keep others out.
func lock(name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	return func() { f.Close() }, nil
}

func isReadOnly(error) bool { return false }

func isFull(error) bool { return false }

func diskUse(dir string) (n int64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}
