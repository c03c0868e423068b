package pta

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/bfverify/bfverify/facts"
)

// PackagePolicy is the policy for the functions of the packages that a pattern
// names: an import path in which "..." stands for any text, and "p/..." for p
// too. HK below 0 is the policy's default.
type PackagePolicy struct {
	Pattern string
	Policy  Policy
	K, HK   int
}

// normal returns the policy with its defaults.
func (p PackagePolicy) normal() PackagePolicy {
	switch {
	case p.Policy == Insens:
		p.K, p.HK = 0, 0
	case p.HK >= 0:
	case p.Policy == Obj:
		p.HK = max(p.K-1, 0)
	default:
		p.HK = p.K
	}
	return p
}

func (p *PackagePolicy) match() func(path string) bool {
	if !strings.Contains(p.Pattern, "...") {
		return func(path string) bool { return path == p.Pattern }
	}
	re := strings.ReplaceAll(regexp.QuoteMeta(p.Pattern), `\.\.\.`, ".*")
	if s, ok := strings.CutSuffix(re, "/.*"); ok {
		re = s + "(/.*)?"
	}
	return regexp.MustCompile("^" + re + "$").MatchString
}

// contexts fills policy.
func (s *solver) contexts() {
	all := PackagePolicy{Policy: s.cfg.Policy, K: s.cfg.K, HK: s.cfg.HK}.normal()
	byPath := map[string]PackagePolicy{}
	matches := make([]func(string) bool, len(s.cfg.Packages))
	for i := range s.cfg.Packages {
		matches[i] = s.cfg.Packages[i].match()
	}
	s.policy = make([]PackagePolicy, len(s.u.Funcs))
	for i, f := range s.u.Funcs {
		pol := all
		if f != nil && len(matches) > 0 {
			have, ok := byPath[f.Pkg]
			if !ok {
				have = all
				for i, match := range matches {
					if match(f.Pkg) {
						have = s.cfg.Packages[i].normal()
					}
				}
				byPath[f.Pkg] = have
			}
			pol = have
		}
		s.policy[i] = pol
		s.sensitive = s.sensitive || f != nil && pol.Policy != Insens
	}
}

// Coarse is a package that lost its contexts, because its functions cost most
// when the budget was spent.
type Coarse struct {
	Pkg   string
	Share float64 // of what all variables with contexts held then
}

// DefaultEffort is a Config.Effort that lets programs of a million instructions
// keep most contexts within a minute.
const DefaultEffort = 100_000_000

var errEffort = errors.New("points-to analysis: effort spent")

// costliest returns the packages with contexts that hold at least half of what
// all variables with contexts hold, largest first, and at least atLeast
// packages. A model that is copied for each of its calls counts for the caller.
// None are left once no package has contexts.
func (s *solver) costliest(atLeast int) []Coarse {
	pairs := map[string]int{}
	total := 0
	for i := 1; i < len(s.insts); i++ {
		in := &s.insts[i]
		f := s.u.Funcs[s.owner(in)]
		if f == nil || s.policy[f.ID].Policy == Insens || s.u.Funcs[in.Fn] == nil {
			continue
		}
		n := 1
		for v := range s.u.Funcs[in.Fn].NumNode {
			if set := s.pts[s.find(in.Base+v)]; set != nil {
				n += set.Len()
			}
		}
		pairs[f.Pkg] += n
		total += n
	}
	var all []Coarse
	for pkg, n := range pairs {
		all = append(all, Coarse{pkg, float64(n) / float64(total)})
	}
	slices.SortFunc(all, func(a, b Coarse) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Pkg, b.Pkg))
	})
	share := 0.0
	for i, c := range all {
		if share += c.Share; share >= 0.5 && i+1 >= atLeast {
			return all[:i+1]
		}
	}
	return all
}

// owner returns the function that an instance counts for: for copies of models,
// that which called the first of them.
func (s *solver) owner(in *Inst) facts.FuncID {
	if n := int(s.ctxs.inlined[in.Ctx]); n > 0 {
		return s.elemFn[s.ctxs.seqs[in.Ctx][n-1]]
	}
	return in.Fn
}
