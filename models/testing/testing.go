//go:build bfmodel

// A test that does not call Parallel runs while its runner waits for it, so
// that it may as well run in the runner's goroutine; the same holds for
// subtests, fuzz targets and the rounds of a benchmark. One that may call
// Parallel is started by the tool as a goroutine that nobody joins, from where
// the runner comes to it: more overlap than the real runner allows. What the package does to its own T, B and F it orders itself, so
// none of that is an access. Messages are formatted, hence read, at the call.
//
// bfx_tRunner, bfx_bRunner, bfx_fRunner and bfx_eRunner run one entry of the
// test binary. Flags, reports, profiles and coverage are left out: they touch
// nothing of the tests, but for what Short and Verbose say.
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
	"time"
)

func bfMaybe() bool
func bfCallFunc(f, x any) any
func bfParallel()
func bfTests()
func bfGoexit()
func bfUnknown(reason string)

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

// bfx_test runs the function of a test or subtest and then its cleanups, in
// the goroutine of whoever runs the test: until the function returns or ends
// its goroutine, the real runner waits for it. What ends the goroutine in the
// function (FailNow, SkipNow) comes back here.
//
//bf:inline
//bf:silent
func (c *common) bfx_test(f func()) {
	defer func() { recover() }()
	defer c.bfx_cleanup()
	f()
}

// bfx_cleanup runs the cleanups. One that ends the goroutine does not keep the
// others from running.
//
//bf:silent
func (c *common) bfx_cleanup() {
	for _, f := range c.cleanups {
		if bfMaybe() {
			f()
		}
	}
}

// bfx_tRunner runs one test. The call in it is the one that the tool turns
// into the start of a goroutine where the test may call Parallel: the rest of
// such a test, its cleanups included, overlaps other tests, and nothing here
// waits for it.
//
//bf:inline
//bf:silent
func bfx_tRunner(t *T, f func(*T)) { bfx_tTest(t, f) }

//bf:inline
//bf:silent
func bfx_tTest(t *T, f func(*T)) { t.bfx_test(func() { f(t) }) }

// bfx_bRunner runs one benchmark: any number of rounds, with the cleanups of a
// round after the round.
func bfx_bRunner(b *B, f func(*B)) {
	for bfMaybe() {
		b.bfx_round(f)
	}
}

//bf:silent
func (b *B) bfx_round(f func(*B)) {
	b.N = bfx_int()
	b.bfx_test(func() { f(b) })
}

// bfx_fRunner runs one fuzz test as a test: its function, then cleanups.
//
//bf:silent
func bfx_fRunner(x *F, f func(*F)) { x.bfx_test(func() { f(x) }) }

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
			bfx_bRunner(new(B), x.F)
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
	for bfMaybe() {
		matchString("", "") // for -run, -bench and -skip
	}
	os.Exit(MainStart(matchStringOnly(matchString), tests, benchmarks, nil, examples).Run())
}

// Run runs f as a subtest: like a test, in the caller's goroutine, unless it
// may call Parallel.
//
//bf:inline
//bf:silent
func (t *T) bf_Run(name string, f func(t *T)) bool {
	bfx_tRunner(new(T), f)
	if bfMaybe() {
		bfGoexit() // the subtest ended its parent's
	}
	return bfMaybe()
}

// Parallel marks the test as one that overlaps others; see bfx_tRunner.
func (t *T) bf_Parallel() { bfParallel() }

func bf_testingSynctestTest(t *T, f func(*T)) (ok bool) { return t.Run("", f) }

// Short and Verbose read flags, which Parse has written before the tests run. The
// objects are the package's own: accesses to them are out of scope, and package
// flag does not know them here.
func bf_Short() bool {
	bfUnknown("testing.Short: nothing sets the flags of package testing while tests run")
	return bfMaybe()
}

func bf_Verbose() bool {
	bfUnknown("testing.Verbose: nothing sets the flags of package testing while tests run")
	return bfMaybe()
}

func (t *T) bf_Setenv(key, value string) { t.common.Setenv(key, value) }

func (t *T) bf_Chdir(dir string) { t.common.Chdir(dir) }

//bf:inline
//bf:silent
func (c *common) bf_Cleanup(f func()) { c.cleanups = append(c.cleanups, f) }

// Context gives a context that is cancelled with the cleanups.
//
//bf:silent
func (c *common) bf_Context() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	c.cleanups = append(c.cleanups, cancel)
	return ctx
}

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
func (c *common) bf_Output() io.Writer { return &outputWriter{c: c} }

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
// made up: numbers, strings and fresh byte slices. Each call is a subtest, which
// may call Parallel.
//
//bf:inline
//bf:silent
func (f *F) bf_Fuzz(ff any) {
	for bfMaybe() {
		t := new(T)
		args := []any{t, make([]byte, 1)}
		for _, e := range f.corpus {
			args = append(args, e.Values...)
		}
		bfx_tRunner(t, func(*T) { bfCallFunc(ff, args) })
	}
}

// Run runs a sub-benchmark.
//
//bf:inline
func (b *B) bf_Run(name string, f func(b *B)) bool {
	bfx_bRunner(new(B), f)
	return bfMaybe()
}

//bf:inline
func bf_Benchmark(f func(b *B)) BenchmarkResult {
	bfx_bRunner(new(B), f)
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

// These set fields of the B without a lock: two goroutines that call them race.
// When, and the memory statistics, are left out.

//bf:inline
func (b *B) bf_SetBytes(n int64) { b.bytes = n }

//bf:inline
func (b *B) bf_SetParallelism(p int) { b.parallelism = p }

//bf:inline
func (b *B) bf_ReportAllocs() { b.showAllocResult = true }

//bf:inline
func (b *B) bf_StartTimer() {
	if !b.timerOn {
		b.timerOn = true
	}
}

//bf:inline
func (b *B) bf_StopTimer() {
	if b.timerOn {
		b.timerOn = false
	}
}

//bf:inline
func (b *B) bf_ResetTimer() {
	if b.extra == nil {
		b.extra = make(map[string]float64, 16)
	} else {
		clear(b.extra)
	}
	b.timerOn = !b.timerOn
}

//bf:inline
func (b *B) bf_ReportMetric(n float64, unit string) { b.extra[unit] = n }

//bf:inline
func (b *B) bf_Elapsed() time.Duration {
	if b.timerOn {
		return 1
	}
	return b.duration
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

func (f matchStringOnly) bf_MatchString(pat, str string) (bool, error) { return f(pat, str) }

// The stand-in for the tool's deps, when Main is called by hand, fails.
func (f matchStringOnly) bf_StopTestLog() error {
	return errors.New("testing: unexpected use of func Main")
}
