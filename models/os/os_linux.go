//go:build bfmodel

// Reading a directory goes through a buffer from a pool, which belongs to the
// file until it is closed and is guarded by the directory's lock. Entries are
// fresh. Process descriptors are tried out with a system call.
package os

import "io"

func (f *File) bf_readdir(n int, mode readdirMode) (names []string, dirents []DirEntry, infos []FileInfo, err error) {
	for bfMaybe() {
		name := f.name
		switch mode {
		case readdirName:
			names = append(names, name)
		case readdirDirEntry:
			de, err := newUnixDirent(f, name, 0)
			if err != nil {
				return names, dirents, infos, err
			}
			dirents = append(dirents, de)
		default:
			info, err := Lstat(name)
			if err != nil {
				return names, dirents, infos, err
			}
			infos = append(infos, info)
		}
	}
	if bfMaybe() {
		return names, dirents, infos, io.EOF
	}
	if bfMaybe() {
		return names, dirents, infos, &PathError{Op: "readdirent", Path: f.name, Err: ErrInvalid}
	}
	return names, dirents, infos, nil
}

// It tries a system call, in a child that shares nothing.
func bf_checkClonePidfd() error {
	if bfMaybe() {
		return nil
	}
	return NewSyscallError("clone", ErrInvalid)
}
