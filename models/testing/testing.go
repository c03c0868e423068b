//go:build bfmodel

// Tests run in goroutines of their own, each joined as the real runner joins
// it: Run waits until its subtest ends or calls Parallel; a parallel subtest
// goes on when its parent's function has returned and is joined before the
// parent's cleanups; a fuzz target and the rounds of a benchmark run one after
// another. What the package does to its own T, B and F it orders itself, so
// none of that is an access. Messages are formatted, hence read, at the call.
//
// bfx_tRunner, bfx_bRunner, bfx_fRunner and bfx_eRunner run one entry of the
// test binary. Flags, reports, profiles and coverage are left out: they touch
// nothing of the tests.
//
//bf:default inert the runner's own state is ordered by the runner, see the stand-ins
package testing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

func bfMaybe() bool
func bfCallFunc(f, x any) any
func bfParallel()
func bfTests()
func bfGoexit()

func bfx_int() int {
	if bfMaybe() {
		return 1
	}
	return 2
}

func bfx_text() string {
	if bfMaybe() {
		return "text"
	}
	return ""
}

// bfx_begin gives a test its context and channels.
//
//bf:inline
//bf:silent
func (c *common) bfx_begin(parent *common) {
	c.parent = parent
	c.barrier = make(chan bool)
	c.signal = make(chan bool, 1)
	c.ctx, c.cancelCtx = context.WithCancel(context.Background())
	c.o = &outputWriter{c: c}
}

// bfx_end ends a test: parallel subtests are let go and joined, the context is
// cancelled, cleanups run, and whoever waits is told. A cleanup that ends the
// goroutine does not keep the others from running.
//
//bf:silent
func (c *common) bfx_end() {
	defer func() { c.signal <- true }()
	close(c.barrier)
	for _, sub := range c.sub {
		<-sub.signal
	}
	c.cancelCtx()
	for _, f := range c.cleanups {
		if bfMaybe() {
			f()
		}
	}
}

// bfx_tRunner runs one test of the binary and joins it.
//
//bf:silent
func bfx_tRunner(t *T, f func(*T)) {
	done := make(chan bool, 1)
	t.bfx_begin(new(common))
	t.parent.bfx_begin(nil)
	close(t.parent.barrier)
	go func() {
		defer func() { done <- true }()
		defer t.bfx_end()
		f(t)
	}()
	<-done
}

// bfx_bRunner runs one benchmark: any number of rounds, each in a goroutine
// that is joined, with the cleanups of a round after the round.
func bfx_bRunner(f func(*B)) {
	b := new(B)
	for bfMaybe() {
		b.bfx_round(f)
	}
}

//bf:silent
func (b *B) bfx_round(f func(*B)) {
	done := make(chan bool, 1)
	b.bfx_begin(nil)
	b.N = bfx_int()
	go func() {
		defer func() { done <- true }()
		defer b.bfx_end()
		f(b)
	}()
	<-done
}

// bfx_fRunner runs one fuzz test as a test: its function, then cleanups.
func bfx_fRunner(f func(*F)) {
	x := new(F)
	done := make(chan bool, 1)
	x.bfx_begin(nil)
	go func() {
		defer func() { done <- true }()
		defer x.bfx_end()
		f(x)
	}()
	<-done
}

// bfx_eRunner runs one example, in the runner's goroutine.
func bfx_eRunner(f func()) { f() }

func bf_MainStart(deps testDeps, tests []InternalTest, benchmarks []InternalBenchmark, fuzzTargets []InternalFuzzTarget, examples []InternalExample) *M {
	return &M{deps: deps, tests: tests, benchmarks: benchmarks, fuzzTargets: fuzzTargets, examples: examples}
}

// Run runs the entries that the tool found; what MainStart was handed names
// the same functions.
func (m *M) bf_Run() (code int) {
	bfTests()
	return bfx_int()
}

func bf_RunTests(matchString func(pat, str string) (bool, error), tests []InternalTest) (ok bool) {
	for _, x := range tests {
		if bfMaybe() {
			matchString(x.Name, x.Name)
			bfx_tRunner(new(T), x.F)
		}
	}
	return bfMaybe()
}

func bf_RunBenchmarks(matchString func(pat, str string) (bool, error), benchmarks []InternalBenchmark) {
	for _, x := range benchmarks {
		if bfMaybe() {
			matchString(x.Name, x.Name)
			bfx_bRunner(x.F)
		}
	}
}

func bf_RunExamples(matchString func(pat, str string) (bool, error), examples []InternalExample) (ok bool) {
	for _, x := range examples {
		if bfMaybe() {
			matchString(x.Name, x.Name)
			bfx_eRunner(x.F)
		}
	}
	return bfMaybe()
}

func bf_Main(matchString func(pat, str string) (bool, error), tests []InternalTest, benchmarks []InternalBenchmark, examples []InternalExample) {
	os.Exit(MainStart(matchStringOnly(matchString), tests, benchmarks, nil, examples).Run())
}

// Run runs f in its own goroutine and waits for the first signal: that it
// ended or that it called Parallel.
//
//bf:inline
//bf:silent
func (t *T) bf_Run(name string, f func(t *T)) bool {
	sub := new(T)
	sub.bfx_begin(&t.common)
	go func() {
		defer sub.bfx_end()
		f(sub)
	}()
	<-sub.signal
	if bfMaybe() {
		bfGoexit() // the subtest ended its parent's
	}
	return bfMaybe()
}

// Parallel lets Run go on and waits for the parent's function to return.
//
//bf:silent
func (t *T) bf_Parallel() {
	bfParallel()
	t.parent.sub = append(t.parent.sub, t)
	t.signal <- true
	<-t.parent.barrier
}

func bf_testingSynctestTest(t *T, f func(*T)) (ok bool) { return t.Run("", f) }

func (t *T) bf_Setenv(key, value string) { t.common.Setenv(key, value) }

func (t *T) bf_Chdir(dir string) { t.common.Chdir(dir) }

//bf:inline
//bf:silent
func (c *common) bf_Cleanup(f func()) { c.cleanups = append(c.cleanups, f) }

//bf:silent
func (c *common) bf_Context() context.Context { return c.ctx }

func (c *common) bf_Setenv(key, value string) {
	if err := os.Setenv(key, value); err != nil {
		c.Fatalf("cannot set environment variable: %v", err)
	}
	c.Cleanup(func() { os.Setenv(key, value) })
}

func (c *common) bf_Chdir(dir string) {
	if err := os.Chdir(dir); err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { os.Chdir(dir) })
}

func (c *common) bf_Name() string { return bfx_text() }

func (c *common) bf_TempDir() string {
	if bfMaybe() {
		c.FailNow()
	}
	return bfx_text()
}

func (c *common) bf_ArtifactDir() string {
	if bfMaybe() {
		c.FailNow()
	}
	return bfx_text()
}

func (c *common) bf_Failed() bool { return bfMaybe() }

func (c *common) bf_Skipped() bool { return bfMaybe() }

func (c *common) bf_FailNow() { bfGoexit() }

func (c *common) bf_SkipNow() { bfGoexit() }

//bf:inline
func (c *common) bf_Log(args ...any) { fmt.Sprintln(args...) }

//bf:inline
func (c *common) bf_Logf(format string, args ...any) { fmt.Sprintf(format, args...) }

//bf:inline
func (c *common) bf_Error(args ...any) { fmt.Sprintln(args...) }

//bf:inline
func (c *common) bf_Errorf(format string, args ...any) { fmt.Sprintf(format, args...) }

//bf:inline
func (c *common) bf_Fatal(args ...any) {
	fmt.Sprintln(args...)
	bfGoexit()
}

//bf:inline
func (c *common) bf_Fatalf(format string, args ...any) {
	fmt.Sprintf(format, args...)
	bfGoexit()
}

//bf:inline
func (c *common) bf_Skip(args ...any) {
	fmt.Sprintln(args...)
	bfGoexit()
}

//bf:inline
func (c *common) bf_Skipf(format string, args ...any) {
	fmt.Sprintf(format, args...)
	bfGoexit()
}

//bf:silent
func (c *common) bf_Output() io.Writer { return c.o }

// Write reads what it is given, under the test's lock.
func (o *outputWriter) bf_Write(p []byte) (int, error) {
	n := 0
	for _, b := range p {
		n += int(b)
	}
	return n, nil
}

func (f *F) bf_Skipped() bool { return bfMaybe() }

//bf:silent
func (f *F) bf_Add(args ...any) {
	f.corpus = append(f.corpus, corpusEntry{Values: append([]any(nil), args...)})
}

// Fuzz calls its function with a fresh T and with values that were added or
// made up: numbers, strings and fresh byte slices. Each call is a subtest.
//
//bf:silent
func (f *F) bf_Fuzz(ff any) {
	for bfMaybe() {
		t := new(T)
		t.bfx_begin(&f.common)
		args := []any{t, make([]byte, 1)}
		for _, e := range f.corpus {
			args = append(args, e.Values...)
		}
		go func() {
			defer t.bfx_end()
			bfCallFunc(ff, args)
		}()
		<-t.signal
	}
}

// Run runs a sub-benchmark.
//
//bf:inline
func (b *B) bf_Run(name string, f func(b *B)) bool {
	bfx_bRunner(f)
	return bfMaybe()
}

//bf:inline
func bf_Benchmark(f func(b *B)) BenchmarkResult {
	bfx_bRunner(f)
	return BenchmarkResult{}
}

// RunParallel starts any number of goroutines and joins them all.
//
//bf:inline
func (b *B) bf_RunParallel(body func(*PB)) {
	var wg sync.WaitGroup
	for bfMaybe() {
		wg.Add(1)
		go func() {
			defer wg.Done()
			body(new(PB))
		}()
	}
	wg.Wait()
}

func (pb *PB) bf_Next() bool { return bfMaybe() }

func (b *B) bf_Loop() bool { return bfMaybe() }

func (r BenchmarkResult) bf_String() string { return bfx_text() }

func (r BenchmarkResult) bf_MemString() string { return bfx_text() }

// AllocsPerRun calls f once to warm up and then runs times.
//
//bf:inline
func bf_AllocsPerRun(runs int, f func()) (avg float64) {
	f()
	for bfMaybe() {
		f()
	}
	return 1
}

// The stand-in for the tool's deps, when Main is called by hand, fails.
func (f matchStringOnly) bf_StopTestLog() error {
	return errors.New("testing: unexpected use of func Main")
}
