package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
)

// profile starts the profiles that -cpuprofile and -memprofile ask for; the
// function that it returns ends and writes them.
func (c *command) profile() (stop func() error, err error) {
	var cpu *os.File
	if c.cpuProfile != "" {
		if cpu, err = os.Create(c.cpuProfile); err != nil {
			return nil, fmt.Errorf("-cpuprofile: %w", err)
		}
		if err := pprof.StartCPUProfile(cpu); err != nil {
			return nil, errors.Join(fmt.Errorf("-cpuprofile: %w", err), cpu.Close())
		}
	}
	return func() error {
		var failed error
		if cpu != nil {
			pprof.StopCPUProfile()
			failed = cpu.Close()
		}
		if c.memProfile != "" {
			failed = errors.Join(failed, writeHeap(c.memProfile))
		}
		return failed
	}, nil
}

func writeHeap(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("-memprofile: %w", err)
	}
	runtime.GC()
	return errors.Join(pprof.WriteHeapProfile(f), f.Close())
}
