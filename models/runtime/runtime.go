//go:build bfmodel

// The runtime's own state is invisible to a Go program and the runtime
// synchronises it, so only what its exported functions do to the memory and
// the goroutines of their callers is said here: buffers and records that the
// caller hands over are read and written as the real functions read and write
// them, and callbacks run in goroutines of their own.
//
//bf:default inert the runtime synchronises its own state, and what it is handed it only looks at
package runtime

import "unsafe"

func bfMaybe() bool
func bfGoexit()
func bfCallFunc(f, x any) any
func bfUnknown(reason string)

func bf_Goexit() { bfGoexit() }

func bf_KeepAlive(x any) {}

// SetFinalizer: the finalizer runs in a runtime goroutine, after SetFinalizer
// and unordered with all else (the memory model promises no more).
//
//bf:inline
func bf_SetFinalizer(obj any, finalizer any) {
	if finalizer == nil {
		return
	}
	go func() { bfCallFunc(finalizer, obj) }()
}

// AddCleanup: as a finalizer, with its own argument.
//
//bf:inline
func bf_AddCleanup[T, S any](ptr *T, cleanup func(S), arg S) Cleanup {
	go cleanup(arg)
	return Cleanup{}
}

func bf_Callers(skip int, pc []uintptr) int {
	for i := range pc {
		pc[i] = 1
	}
	return len(pc)
}

// CallersFrames keeps the slice; Next reads it and steps the Frames on.
func bf_CallersFrames(callers []uintptr) *Frames {
	f := &Frames{callers: callers}
	f.frames = f.frameStore[:0]
	return f
}

func (ci *Frames) bf_Next() (frame Frame, more bool) {
	if len(ci.callers) > 0 {
		frame.PC = ci.callers[0]
		ci.callers = ci.callers[1:]
		ci.nextPC = 0
	}
	ci.frames = append(ci.frames, Frame{Func: new(Func)})
	frame = ci.frames[0]
	ci.frames = ci.frames[1:]
	return frame, len(ci.frames) > 0
}

// A Func is a view of read-only tables.
func bf_FuncForPC(pc uintptr) *Func { return new(Func) }

func bf_Stack(buf []byte, all bool) int {
	for i := range buf {
		buf[i] = 0
	}
	return len(buf)
}

func bf_ReadMemStats(m *MemStats) { *m = MemStats{} }

func bf_BlockProfile(p []BlockProfileRecord) (n int, ok bool) {
	for i := range p {
		p[i] = BlockProfileRecord{}
	}
	return len(p), bfMaybe()
}

func bf_MutexProfile(p []BlockProfileRecord) (n int, ok bool) { return BlockProfile(p) }

func bf_MemProfile(p []MemProfileRecord, inuseZero bool) (n int, ok bool) {
	for i := range p {
		p[i] = MemProfileRecord{}
	}
	return len(p), bfMaybe()
}

func bf_GoroutineProfile(p []StackRecord) (n int, ok bool) {
	for i := range p {
		p[i] = StackRecord{}
	}
	return len(p), bfMaybe()
}

func bf_ThreadCreateProfile(p []StackRecord) (n int, ok bool) { return GoroutineProfile(p) }

// Stack gives a slice of the record itself.
func (r *StackRecord) bf_Stack() []uintptr { return r.Stack0[:len(r.Stack0)-int(r.Stack0[0])] }

func (r *MemProfileRecord) bf_Stack() []uintptr { return r.Stack0[:len(r.Stack0)-int(r.Stack0[0])] }

func (r *MemProfileRecord) bf_InUseBytes() int64 { return r.AllocBytes - r.FreeBytes }

func (r *MemProfileRecord) bf_InUseObjects() int64 { return r.AllocObjects - r.FreeObjects }

// A Pinner keeps its state behind one pointer that Pin and Unpin set.
func (p *Pinner) bf_Pin(pointer any) {
	if p.pinner == nil {
		p.pinner = new(pinner)
	}
}

func (p *Pinner) bf_Unpin() {
	if p.pinner != nil {
		p.pinner = nil
	}
}

// The functions handed over are C functions that the runtime calls on signals.
func bf_SetCgoTraceback(version int, traceback, context, symbolizer unsafe.Pointer) {
	bfUnknown("runtime.SetCgoTraceback hands C functions to the runtime")
}

// The messages of run-time errors are made from values that never change.
func (e *TypeAssertionError) bf_Error() string { return "interface conversion" }

func (e *TypeAssertionError) bf_RuntimeError() {}

// Operations that fail panic with values of these types: what recover gives may
// be any of them, in any goroutine.
func init() {
	switch {
	case bfMaybe():
		panic(new(TypeAssertionError))
	case bfMaybe():
		panic(new(PanicNilError))
	case bfMaybe():
		panic(boundsError{})
	case bfMaybe():
		panic(plainError(""))
	case bfMaybe():
		panic(errorString(""))
	case bfMaybe():
		panic(errorAddressString{})
	}
}
