package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Why an analysis was abandoned.
var (
	errTime      = errors.New("out of time")
	errMemory    = errors.New("out of memory")
	errInterrupt = errors.New("interrupted")
)

// What goes on before there are programs.
const (
	loading  = "loading"
	building = "building SSA and facts"
)

// grace is how long a step that is cancelled may take to notice it. One that
// does not is left running, and everything after it is abandoned.
var grace = 3 * time.Second

// A bugError is a panic of the engine, or an error that only a bug explains.
type bugError struct {
	stage string // what was going on
	what  string
	stack []byte // may be nil
}

func (e *bugError) Error() string {
	s := fmt.Sprintf("this is a bug in bfverify: %s: %s", e.stage, e.what)
	if len(e.stack) > 0 {
		s += "\n" + strings.TrimRight(string(e.stack), "\n")
	}
	return s + "\n(please report it with this text and what bfverify version prints; to get on meanwhile, leave the program out or try -ctx insens)"
}

// budget starts the clock and the watch for signals. The context ends with
// errTime or errInterrupt as its cause. A second Ctrl-C ends the process.
func (c *command) budget() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	sigs := make(chan os.Signal, 1)
	signal.Notify(sigs, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-sigs:
			signal.Stop(sigs)
			cancel(errInterrupt)
		case <-ctx.Done():
		}
	}()
	stop := func() bool { return true }
	if c.timeout > 0 {
		stop = time.AfterFunc(c.timeout, func() { cancel(errTime) }).Stop
	}
	return ctx, func() {
		stop()
		signal.Stop(sigs)
		cancel(nil)
	}
}

// step runs f, which does what name says, and returns its error. It returns
// the cause where the budget ran out, and a *bugError where f panicked.
func (s *session) step(name string, f func(context.Context) error) error {
	if s.stuck || s.ctx.Err() != nil {
		return s.cause(s.ctx)
	}
	s.at(name)
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	defer watchMemory(s.mem, func() { cancel(errMemory) })()
	done := make(chan error, 1)
	go func() {
		returned := false
		defer func() {
			if v := recover(); v != nil {
				done <- &bugError{s.stageName(), fmt.Sprint(v), debug.Stack()}
			} else if !returned {
				done <- &bugError{s.stageName(), "the goroutine ended itself", nil}
			}
		}()
		err := f(ctx)
		returned = true
		done <- err
	}()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(grace):
			s.stuck = true
			s.why = context.Cause(ctx)
			return s.why
		}
	}
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return context.Cause(ctx)
	}
	return err
}

// cause returns why nothing more can be done.
func (s *session) cause(ctx context.Context) error {
	if s.why != nil {
		return s.why
	}
	return context.Cause(ctx)
}

// abandoned reports whether err is a budget that ran out.
func abandoned(err error) bool {
	return errors.Is(err, errTime) || errors.Is(err, errMemory) || errors.Is(err, errInterrupt)
}

// reason tells the user which budget ran out, where, and what to try.
func (s *session) reason(err error) string {
	st := s.stageName()
	where, cheaper := "before its turn came", ""
	if st != "" {
		where = "in " + st
	}
	if st != loading && st != building && s.c.ctx != "insens" {
		cheaper = "a cheaper policy: -ctx insens; or "
	}
	switch {
	case errors.Is(err, errTime):
		more := max(2*s.c.timeout, time.Minute).String()
		if m, ok := strings.CutSuffix(more, "m0s"); ok {
			more = m + "m"
		}
		return fmt.Sprintf("out of time: -timeout=%v ran out %s (try %smore time: -timeout %s)", s.c.timeout, where, cheaper, more)
	case errors.Is(err, errMemory):
		more := "more memory: -mem " + size(2*s.mem)
		if s.c.mem == 0 {
			more = "a machine with more memory"
		}
		return fmt.Sprintf("out of memory: more than %s were in use %s (try %s%s)", size(s.mem), where, cheaper, more)
	}
	return fmt.Sprintf("interrupted %s (for a verdict, run it again)", where)
}

// memory returns the memory budget: what -mem says, or most of the machine's.
func (c *command) memory() uint64 {
	if c.mem > 0 {
		return c.mem
	}
	total := uint64(math.MaxUint64)
	if b, err := os.ReadFile("/proc/meminfo"); err == nil {
		if f := strings.Fields(string(b)); len(f) > 1 && f[0] == "MemTotal:" {
			if kb, err := strconv.ParseUint(f[1], 10, 64); err == nil {
				total = kb << 10
			}
		}
	}
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if b, err := os.ReadFile(file); err == nil {
			if n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64); err == nil {
				total = min(total, n)
			}
		}
	}
	if total > 1<<50 { // unknown
		return 0
	}
	return total / 10 * 9
}

// watchMemory calls over, once, when the process uses more than limit bytes; 0
// is no limit. Short of the limit the garbage collector works harder. The
// function that it returns ends the watch.
func watchMemory(limit uint64, over func()) (stop func()) {
	if limit == 0 {
		return func() {}
	}
	old := debug.SetMemoryLimit(int64(limit / 10 * 9))
	tick := time.NewTicker(50 * time.Millisecond)
	quit := make(chan struct{})
	go func() {
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				if inUse() > limit {
					over()
					return
				}
			}
		}
	}()
	return func() {
		tick.Stop()
		close(quit)
		debug.SetMemoryLimit(old)
	}
}

// inUse returns how much memory the Go runtime holds.
func inUse() uint64 {
	m := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(m)
	return m[0].Value.Uint64() - m[1].Value.Uint64()
}

// peak returns the most memory that the process ever had, or 0 where the
// system does not tell.
func peak() uint64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			kb, _ := strconv.ParseUint(f[1], 10, 64)
			return kb << 10
		}
	}
	return 0
}
