//go:build bfmodel

// Profiles are taken by the runtime and written with the writer's Write; what
// a profile of the program's own holds is guarded by its mutex and only
// counted. The CPU profile is written from a goroutine that StopCPUProfile
// waits for, as in the source.
package pprof

import (
	"errors"
	"internal/profilerecord"
	"io"
	"runtime"
	"unsafe"
)

func bfMaybe() bool

func bfx_err() error {
	if bfMaybe() {
		return nil
	}
	return errors.New("pprof")
}

func bfx_write(w io.Writer) error {
	for bfMaybe() {
		if _, err := w.Write(make([]byte, 1)); err != nil {
			return err
		}
	}
	return bfx_err()
}

func bf_profileWriter(w io.Writer) {
	bfx_write(w)
	cpu.done <- true
}

func (p *Profile) bf_WriteTo(w io.Writer, debug int) error {
	if p.name == "" {
		panic("pprof: use of zero Profile")
	}
	return bfx_write(w)
}

func bf_WriteHeapProfile(w io.Writer) error { return bfx_write(w) }

func bf_runtime_FrameStartLine(f *runtime.Frame) int { return f.Line }

func bf_runtime_FrameSymbolName(f *runtime.Frame) string { return f.Function }

func bf_runtime_expandFinalInlineFrame(stk []uintptr) []uintptr {
	return append(stk[:len(stk):len(stk)], 1)
}

// The label is kept with the goroutine, and handed out only to profiles.
func bf_runtime_setProfLabel(labels unsafe.Pointer) {}

func bf_runtime_getProfLabel() unsafe.Pointer { return nil }

func bf_readProfile() (data []uint64, tags []unsafe.Pointer, eof bool) {
	return make([]uint64, 1), make([]unsafe.Pointer, 1), bfMaybe()
}

func bf_pprof_goroutineProfileWithLabels(p []profilerecord.StackRecord, labels []unsafe.Pointer) (n int, ok bool) {
	for i := range labels {
		labels[i] = nil
	}
	return pprof_threadCreateInternal(p)
}

func bf_pprof_goroutineLeakProfileWithLabels(p []profilerecord.StackRecord, labels []unsafe.Pointer) (n int, ok bool) {
	return pprof_goroutineProfileWithLabels(p, labels)
}

func bf_pprof_memProfileInternal(p []profilerecord.MemProfileRecord, inuseZero bool) (n int, ok bool) {
	for i := range p {
		p[i] = profilerecord.MemProfileRecord{Stack: make([]uintptr, 1)}
	}
	return len(p), bfMaybe()
}

func bf_pprof_blockProfileInternal(p []profilerecord.BlockProfileRecord) (n int, ok bool) {
	for i := range p {
		p[i] = profilerecord.BlockProfileRecord{Stack: make([]uintptr, 1)}
	}
	return len(p), bfMaybe()
}

func bf_pprof_mutexProfileInternal(p []profilerecord.BlockProfileRecord) (n int, ok bool) {
	return pprof_blockProfileInternal(p)
}

func bf_pprof_threadCreateInternal(p []profilerecord.StackRecord) (n int, ok bool) {
	for i := range p {
		p[i] = profilerecord.StackRecord{Stack: make([]uintptr, 1)}
	}
	return len(p), bfMaybe()
}

func bf_pprof_fpunwindExpand(dst, src []uintptr) int { return copy(dst, src) }

func bf_pprof_makeProfStack() []uintptr { return make([]uintptr, 1) }
