package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A frame is one line of a stack in a report.
type frame struct {
	file string
	line int
}

// A report is a race as a detector printed it: the stacks of both accesses, innermost
// frame first. One that was lost is empty.
type report [2][]frame

var (
	accessLine = regexp.MustCompile(`^(Previous )?(?i:atomic )?(?i:read|write) at 0x[0-9a-f]+ by `)
	frameLine  = regexp.MustCompile(`^ {6}(.+):(\d+) \+0x`)
)

// reports returns the races in what a program printed.
func reports(text string) (all []report) {
	side := -1 // of the last report, the access whose stack comes next
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch m := frameLine.FindStringSubmatch(line); {
		case strings.HasSuffix(line, "WARNING: DATA RACE"):
			all, side = append(all, report{}), -1
		case len(all) == 0:
		case accessLine.MatchString(line):
			side++
		case strings.HasPrefix(line, "Goroutine ") || strings.HasPrefix(line, "===="):
			side = len(report{})
		case m != nil && side >= 0 && side < len(report{}):
			n, _ := strconv.Atoi(m[2])
			r := &all[len(all)-1]
			r[side] = append(r[side], frame{m[1], n})
		}
	}
	return all
}

// inside returns the first frame of a stack that lies in a file of dir.
func inside(stack []frame, dir string) (frame, bool) {
	i := slices.IndexFunc(stack, func(f frame) bool { return strings.HasPrefix(f.file, dir+string(filepath.Separator)) })
	if i < 0 {
		return frame{}, false
	}
	return stack[i], true
}

// beneath are the folders of the Go tree whose functions make accesses for their
// callers: which of their frames is printed differs between detectors.
var beneath = regexp.MustCompile(`/src/(runtime|internal/runtime/[^/]+|internal/race|internal/sync|sync|sync/atomic|reflect|internal/bytealg)/[^/]*$`)

// key names a race by the places of both accesses, in the order of their text, so that the
// same race has the same key in each run. Paths are cut off at a version of a
// module and at the folder of the test.
func (r report) key(dir string) string {
	var at []string
	for _, stack := range r {
		place := "?"
		for _, f := range stack {
			if !beneath.MatchString(f.file) {
				place = fmt.Sprintf("%s:%d", strings.TrimPrefix(f.file, dir+string(filepath.Separator)), f.line)
				break
			}
		}
		at = append(at, place)
	}
	slices.Sort(at)
	return strings.Join(at, " with ")
}
