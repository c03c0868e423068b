package export

import (
	"bufio"
	"encoding/json"
	"io"
)

// JSON prints the stream of typed messages: one object a line. The names and
// the order of the fields of config, progress, error, pair, assumption, funnel
// and verdict are fixed; docs/json.md has them. Readers ignore types that they
// do not know.
type JSON struct {
	w   *bufio.Writer
	enc *json.Encoder
	err error
}

// NewJSON returns a Printer of the JSON stream.
func NewJSON(w io.Writer) *JSON {
	j := &JSON{w: bufio.NewWriter(w)}
	j.enc = json.NewEncoder(j.w)
	j.enc.SetEscapeHTML(false)
	return j
}

// The messages. Field order is output order.
type (
	configMsg struct {
		Type     string   `json:"type"`
		Version  string   `json:"version"`
		Patterns []string `json:"patterns"`
		K        int      `json:"k"`
		Ctx      string   `json:"ctx"`
	}
	buildMsg struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	progressMsg struct {
		Type    string `json:"type"`
		Program string `json:"program"`
		Stage   string `json:"stage"`
		Done    int    `json:"done"`
		Of      int    `json:"of"`
	}
	errorMsg struct {
		Type    string `json:"type"`
		Program string `json:"program"`
		Pos     Pos    `json:"pos"`
		Text    string `json:"text"`
	}
	pairMsg struct {
		Type    string `json:"type"`
		Program string `json:"program"`
		Pair
	}
	assumptionMsg struct {
		Type    string `json:"type"`
		Program string `json:"program"`
		Assumption
	}
	coarseMsg struct {
		Type    string `json:"type"`
		Program string `json:"program"`
		Coarse
	}
	funnelMsg struct {
		Type    string `json:"type"`
		Program string `json:"program"`
		FunnelRow
	}
	verdictMsg struct {
		Type        string  `json:"type"`
		Program     string  `json:"program"`
		Kind        string  `json:"kind"`
		Entry       string  `json:"entry"`
		Verdict     Verdict `json:"verdict"`
		Open        int     `json:"open"`
		Waived      int     `json:"waived"`
		OutOfScope  int     `json:"out_of_scope"`
		Assumptions int     `json:"assumptions"`
	}
	whyMsg struct {
		Type    string   `json:"type"`
		Program string   `json:"program"`
		Entry   string   `json:"entry"`
		A       Side     `json:"a"`
		B       Side     `json:"b"`
		Steps   []string `json:"steps"`
		Outcome string   `json:"outcome"`
	}
	unverifiedMsg struct {
		Type    string `json:"type"`
		Program string `json:"program"`
		Text    string `json:"text"`
	}
)

func (j *JSON) put(msg any) {
	if j.err == nil {
		j.err = j.enc.Encode(msg)
	}
}

// Config prints config, and build with the build configuration.
func (j *JSON) Config(c Config) {
	j.put(configMsg{"config", c.Version, some(c.Patterns), c.K, c.Ctx})
	if c.Build != "" {
		j.put(buildMsg{"build", c.Build})
	}
}

// Progress prints progress.
func (j *JSON) Progress(program, stage string, done, of int) {
	j.put(progressMsg{"progress", program, stage, done, of})
}

// Error prints error.
func (j *JSON) Error(program string, pos Pos, text string) {
	j.put(errorMsg{"error", program, pos, text})
}

// Result prints what a verdict rests on and then the verdict. The reason of an
// ABANDONED is an error about the program.
func (j *JSON) Result(r Result) {
	for _, p := range r.Pairs {
		p.A, p.B = full(p.A), full(p.B)
		if p.Entry == "" {
			p.Entry = r.Entry
		}
		j.put(pairMsg{"pair", r.Program, p})
	}
	for _, w := range r.Why {
		j.put(whyMsg{"why", r.Program, r.Entry, full(w.A), full(w.B), some(w.Steps), w.Outcome})
	}
	for _, a := range r.Assumptions {
		j.put(assumptionMsg{"assumption", r.Program, a})
	}
	for _, c := range r.Coarse {
		j.put(coarseMsg{"coarse", r.Program, c})
	}
	for _, f := range r.Funnel {
		j.put(funnelMsg{"funnel", r.Program, f})
	}
	if r.Reason != "" {
		j.Error(r.Program, Pos{}, r.Reason)
	}
	j.put(verdictMsg{"verdict", r.Program, r.Kind, r.Entry, r.Verdict, r.Open, r.Waived, r.OutOfScope, len(r.Assumptions)})
}

// Unverified prints unverified.
func (j *JSON) Unverified(l Library) {
	j.put(unverifiedMsg{"unverified", l.Path, l.Group + l.Text})
}

// Close does nothing: the stream has no end mark.
func (j *JSON) Close() {}

// Flush writes what is buffered.
func (j *JSON) Flush() error {
	if j.err == nil {
		j.err = j.w.Flush()
	}
	return j.err
}

// full gives a side empty lists where it has none, as readers expect lists.
func full(s Side) Side {
	s.Goroutine, s.Locks = some(s.Goroutine), some(s.Locks)
	return s
}

// some returns list, or an empty list for nil.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
