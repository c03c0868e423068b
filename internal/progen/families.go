package progen

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

//go:embed families/*.txt
var familyFiles embed.FS

// A Family is a hand-written program whose answer is known. Most come in twins
// that differ by little, one racy and one free of races. Generate mutates them.
type Family struct {
	Name   string // primitive, underscore, what it is about
	Racy   bool
	Misuse bool // some synchronisation object is misused as well
	text   string
}

// Program parses the family's text.
func (f Family) Program() *Program {
	p, err := parse(f.Name, f.text)
	if err != nil {
		panic(fmt.Sprintf("progen: family %s: %v", f.Name, err))
	}
	return p
}

// Families lists the library in alphabetical order.
func Families() []Family { return slices.Clone(loadFamilies()) }

// loadFamilies reads the embedded files: sections that start with a line
// "== name verdict [misuse]".
var loadFamilies = sync.OnceValue(func() []Family {
	var all []Family
	names, err := fs.Glob(familyFiles, "families/*.txt")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		data, err := familyFiles.ReadFile(name)
		if err != nil {
			panic(err)
		}
		for part := range strings.SplitSeq("\n"+string(data), "\n== ") {
			head, text, ok := strings.Cut(part, "\n")
			if !ok || strings.TrimSpace(part) == "" {
				continue
			}
			words := strings.Fields(head)
			all = append(all, Family{
				Name: words[0], Racy: words[1] == "racy", Misuse: slices.Contains(words, "misuse"), text: text,
			})
		}
	}
	slices.SortFunc(all, func(a, b Family) int { return strings.Compare(a.Name, b.Name) })
	return all
})
