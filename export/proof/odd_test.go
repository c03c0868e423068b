package proof_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/bfverify/bfverify/export/check"
)

// TestOdd changes any one number, list, kind or flag of the proof of a program
// that races, in all ways that come to mind: the checker does not panic, and does
// not accept.
func TestOdd(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	c := programs(t)
	small, locking, failed := 0, 0, 0
	for _, p := range c.twins {
		if !c.races[p.Path] || small >= 12 && locking >= 4 {
			continue
		}
		claims := prove(t, p)
		n := 400
		locks := slices.ContainsFunc(claims.Insts, func(in check.Inst) bool { return len(in.Releases) > 0 })
		switch {
		case !check.Check(p, nil, claims).Closed:
			continue
		case locks && locking < 4:
			locking++
			n = 100 // they have the standard library in them
		case len(claims.Insts) <= 30 && small < 12:
			small++
		default:
			continue
		}
		for range n {
			undo := odd(rng, reflect.ValueOf(claims).Elem())
			if undo == nil {
				continue
			}
			rep := check.Check(p, nil, claims)
			if rep.Failed != nil {
				failed++
			}
			if rep.Proved() {
				t.Errorf("UNSOUND: %s, which races, is proved", p.Path)
			}
			undo()
		}
	}
	if small < 5 || locking < 4 || failed < 1000 {
		t.Errorf("%d small programs, %d with locks, %d failures", small, locking, failed)
	}
}

// odd changes something in v, chosen at random on the way down, and returns what
// puts it back, or nil.
func odd(rng *rand.Rand, v reflect.Value) func() {
	old := reflect.New(v.Type()).Elem()
	old.Set(v)
	undo := func() { v.Set(old) }
	switch v.Kind() {
	case reflect.Struct:
		return odd(rng, v.Field(rng.IntN(v.NumField())))
	case reflect.Slice:
		n := v.Len()
		switch k := rng.IntN(12); {
		case n > 0 && k == 0:
			v.SetLen(rng.IntN(n))
			return undo
		case k == 1:
			v.Set(reflect.Append(v.Slice3(0, n, n), reflect.Zero(v.Type().Elem())))
			return undo
		case n == 0:
			return nil
		}
		return odd(rng, v.Index(rng.IntN(n)))
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.String:
		v.SetString([]string{check.NeverEscapes, check.Starts, check.SameLock, check.SameBase, "other"}[rng.IntN(5)])
	case reflect.Int, reflect.Int64:
		v.SetInt([]int64{0, -1, v.Int() + 1, v.Int() - 1, rng.Int64N(64), 1 << 40}[rng.IntN(6)])
	default: // unsigned of some size
		v.SetUint([]uint64{0, 1, v.Uint() + 1, v.Uint() - 1, rng.Uint64N(64), rng.Uint64()}[rng.IntN(6)])
	}
	return undo
}
