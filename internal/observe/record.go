package observe

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Fact is that the value at Plan.Uses[Use] was an address at offset Off in an
// object made at Plan.Sites[Site]: within an element, for arrays of slices.
type Fact struct{ Use, Site, Off int }

// A Call is that the call at Plan.Uses[Use] had Plan.Funcs[Func] as its callee.
type Call struct{ Use, Func int }

// A Dynamic is that the interface value at Plan.Uses[Use] had the dynamic type
// that the facts call Type.
type Dynamic struct {
	Use  int
	Type string
}

// A Record is what runs of an instrumented program have shown. The maps count
// observations.
type Record struct {
	Facts    map[Fact]int
	Calls    map[Call]int
	Dynamics map[Dynamic]int
	Entered  map[int]int // by function
	Uses     map[int]bool
	Made     int // objects made at sites, and how many of them were tracked
	Tracked  int
	Unknown  int // addresses of objects that were not tracked: of std, of sites that had their share
	Foreign  int // calls of functions that are not instrumented
	Runs     int
}

// ReadRecord reads the logs in dir.
func ReadRecord(dir string) (*Record, error) {
	r := &Record{Facts: map[Fact]int{}, Calls: map[Call]int{}, Dynamics: map[Dynamic]int{}, Entered: map[int]int{}, Uses: map[int]bool{}}
	names, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	for _, name := range names {
		if err := r.read(name); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r.Runs++
	}
	if r.Runs == 0 {
		return nil, fmt.Errorf("%s: the instrumented program wrote no log", dir)
	}
	return r, nil
}

func (r *Record) read(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	whole := false
	for in.Scan() {
		w := strings.Fields(in.Text())
		var n [4]int
		for i := range min(4, len(w)-1) {
			if n[i], err = strconv.Atoi(w[i+1]); err != nil && w[0] != "type" {
				return err
			}
		}
		switch w[0] {
		case "func":
			r.Entered[n[0]] += n[1]
		case "site":
			r.Made += n[1]
			r.Tracked += n[2]
		case "use":
			r.Uses[n[0]] = true
			r.Unknown += n[2]
		case "fact":
			r.Facts[Fact{n[0], n[1], n[2]}] += n[3]
		case "type":
			r.Dynamics[Dynamic{n[0], w[3]}] += n[1]
		case "call":
			r.Calls[Call{n[0], n[1]}] += n[2]
		case "foreign":
			r.Foreign += n[1]
		case "overlap":
			if n[0] != 0 {
				return fmt.Errorf("%d objects were found where others are: the logger is wrong", n[0])
			}
			whole = true
		default:
			return fmt.Errorf("unknown line %q", in.Text())
		}
	}
	if !whole {
		return fmt.Errorf("the log is cut off")
	}
	return in.Err()
}

// Observations is the number of events that became facts, calls or types.
func (r *Record) Observations() int {
	n := 0
	for _, c := range r.Facts {
		n += c
	}
	for _, c := range r.Calls {
		n += c
	}
	for _, c := range r.Dynamics {
		n += c
	}
	return n
}
