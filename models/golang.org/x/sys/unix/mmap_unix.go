//go:build bfmodel

// Mapped memory is fresh: two mappings have two addresses. The table of
// mappings is guarded by the mapper's lock and seen by nobody else.
package unix

func bfMaybe() bool

//bf:inline
func (m *mmapper) bf_Mmap(fd int, offset int64, length int, prot int, flags int) (data []byte, err error) {
	if bfMaybe() {
		return nil, EINVAL
	}
	return make([]byte, length), nil
}

//bf:inline
func (m *mmapper) bf_Munmap(data []byte) (err error) {
	if bfMaybe() {
		return EINVAL
	}
	return nil
}
