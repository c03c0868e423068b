package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/tools/go/callgraph"
	"golang.org/x/tools/go/callgraph/cha"
	"golang.org/x/tools/go/callgraph/rta"
	"golang.org/x/tools/go/callgraph/vta"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"

	"github.com/bfverify/bfverify/facts/extract"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/models"
	"github.com/bfverify/bfverify/pta"
)

// ptaConfigs are the columns of table pta: what golang.org/x/tools has, then
// "policy k hk".
var ptaConfigs = []string{
	"ssa", "rta", "vta",
	"insens:0:-1", "obj:1:-1", "hybrid:1:-1", "hybrid:2:-1", "hybrid:1:0",
}

// ptaTable prints table 2 of the design: points-to analysis against loading,
// CHA+VTA and RTA.
func ptaTable(s *settings) error {
	configs := ptaConfigs
	if len(s.configs) > 0 {
		configs = s.configs
	}
	fmt.Println("Points-to analysis. s: seconds of the step alone; x: times CHA+VTA; MB: peak of the process, loading included; mem x: times that of loading and SSA.")
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "program\tconfiguration\ts\tx\tMB\tmem x\tbefore s\tpairs\tcoarse\tfunctions\tinstances\tcall edges\t")
	for _, p := range s.programs {
		got := map[string][]figure{}
		failed := map[string]bool{}
		for range s.rounds {
			for _, c := range configs {
				if !failed[c] { // what does not finish once is not tried again
					f := s.measure(p, c)
					failed[c] = f.Err != ""
					got[c] = append(got[c], f)
				}
			}
		}
		base := map[string]figure{}
		for _, c := range configs {
			base[c] = median(got[c])
		}
		for _, c := range configs {
			f := base[c]
			if f.Err != "" {
				fmt.Fprintf(w, "%s\t%s\t\t\t%.0f\t\t\t%s\t\t\t\t\t\n", p.name, c, f.PeakMB, f.Err)
				continue
			}
			fmt.Fprintf(w, "%s\t%s\t%.2f\t%s\t%.0f\t%s\t%.1f\t%s\t%s\t%s\t%s\t%s\t\n", p.name, c, f.Seconds,
				ratio(f.Seconds, base["vta"].Seconds), f.PeakMB, ratio(f.PeakMB, base["ssa"].PeakMB), f.Load,
				count(f, "pairs"), count(f, "coarse"), count(f, "functions"), count(f, "instances"), count(f, "edges"))
		}
		w.Flush()
	}
	return nil
}

func ratio(a, b float64) string {
	if b == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", a/b)
}

func count(f figure, key string) string {
	if v, ok := f.Values[key]; ok {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return ""
}

// child measures one configuration and prints a figure. With CPUPROFILE=FILE in
// the environment it writes a profile of the analysis; a time limit as last
// argument ends that, so that the profile shows where the time went.
func child(args []string) {
	config, pattern := args[0], args[1]
	mem, err := strconv.ParseUint(args[2], 10, 64)
	if err != nil {
		fail(err)
	}
	var f figure
	ctx := context.Background()
	if len(args) > 3 {
		limit, err := time.ParseDuration(args[3])
		if err != nil {
			fail(err)
		}
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	if config == "ssa" || config == "rta" || config == "vta" {
		f, err = measureTools(config, pattern)
	} else {
		f, err = measurePTA(ctx, config, pattern, mem)
	}
	if err != nil {
		fail(err)
	}
	json.NewEncoder(os.Stdout).Encode(f)
}

// measureTools measures golang.org/x/tools: loading and SSA, and call graphs.
func measureTools(config, pattern string) (figure, error) {
	start := time.Now()
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax}, pattern)
	if err != nil {
		return figure{}, err
	}
	if packages.PrintErrors(pkgs) > 0 {
		return figure{}, fmt.Errorf("%s does not load", pattern)
	}
	prog, mains := ssautil.AllPackages(pkgs, ssa.InstantiateGenerics)
	prog.Build()
	f := figure{Seconds: time.Since(start).Seconds(), Values: map[string]float64{}}
	if config == "ssa" {
		return f, nil
	}
	f.Load = f.Seconds
	start = time.Now()
	if config == "rta" {
		r := rta.Analyze([]*ssa.Function{mains[0].Func("init"), mains[0].Func("main")}, true)
		f.Seconds = time.Since(start).Seconds()
		f.Values["functions"] = float64(len(r.Reachable))
		f.Values["edges"] = float64(edges(r.CallGraph))
		return f, nil
	}
	g := vta.CallGraph(ssautil.AllFunctions(prog), cha.CallGraph(prog))
	f.Seconds = time.Since(start).Seconds()
	f.Values["functions"] = float64(len(g.Nodes))
	f.Values["edges"] = float64(edges(g))
	return f, nil
}

func edges(g *callgraph.Graph) int {
	n := 0
	for _, x := range g.Nodes {
		n += len(x.Out)
	}
	return n
}

// parseConfig reads "policy:k:hk".
func parseConfig(config string) (pta.Config, error) {
	f := strings.Split(config, ":")
	if len(f) != 3 || !slices.Contains([]string{"insens", "obj", "hybrid"}, f[0]) {
		return pta.Config{}, fmt.Errorf("a configuration is POLICY:K:HK, not %q", config)
	}
	k, err1 := strconv.Atoi(f[1])
	hk, err2 := strconv.Atoi(f[2])
	if err1 != nil || err2 != nil {
		return pta.Config{}, fmt.Errorf("a configuration is POLICY:K:HK, not %q", config)
	}
	return pta.Config{Policy: pta.Policy(f[0]), K: k, HK: hk}, nil
}

// measurePTA measures one policy of package pta.
func measurePTA(ctx context.Context, config, pattern string, mem uint64) (figure, error) {
	cfg, err := parseConfig(config)
	if err != nil {
		return figure{}, err
	}
	cfg.MemLimit, cfg.Effort = mem, pta.DefaultEffort
	start := time.Now()
	res, err := load.Load(ctx, load.Config{Patterns: []string{pattern}, Models: models.Files()})
	if err != nil {
		return figure{}, err
	}
	if len(res.Programs) != 1 {
		return figure{}, fmt.Errorf("%s has %d programs", pattern, len(res.Programs))
	}
	u, err := extract.Universe(res)
	if err != nil {
		return figure{}, err
	}
	p, err := extract.Link(u, res.Programs[0])
	if err != nil {
		return figure{}, err
	}
	res = nil
	f := figure{Load: time.Since(start).Seconds()}
	if name := os.Getenv("CPUPROFILE"); name != "" {
		w, err := os.Create(name)
		if err != nil {
			return figure{}, err
		}
		defer w.Close()
		if err := pprof.StartCPUProfile(w); err != nil {
			return figure{}, err
		}
		defer pprof.StopCPUProfile()
	}
	start = time.Now()
	r, err := pta.Analyze(ctx, p, cfg)
	if err != nil {
		return figure{}, err
	}
	f.Seconds = time.Since(start).Seconds()
	f.Values = map[string]float64{}
	seen := map[any]bool{}
	edges, pairs := 0, 0
	for i := 1; i < len(r.Insts); i++ {
		if id := r.Insts[i].Fn; !seen[id] {
			seen[id] = true
		}
		edges += len(r.Insts[i].Out)
		pairs += r.Pairs(pta.InstID(i))
	}
	f.Values["coarse"] = float64(len(r.Coarse))
	f.Values["effort"] = float64(r.Stats.Effort)
	f.Values["pairs"] = float64(pairs)
	f.Values["functions"] = float64(len(seen))
	f.Values["instances"] = float64(len(r.Insts) - 1)
	f.Values["edges"] = float64(edges)
	return f, nil
}
