package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// one has every kind of event.
var one = []Event{
	{Kind: Name, Site: 7, Text: "a.go:12"},
	{Kind: Malloc, Addr: 0xc000010000, Size: 4096, Site: 3},
	{Kind: Array, Addr: 0xc000010000, Size: 8, Count: 512},
	{Kind: Proxy, Site: 3, Addr: 8, Size: 8, Stride: 0},
	{Kind: Fork, Other: 1, Site: 7},
	{Kind: Fork, Other: 5},
	{Kind: Write, G: 1, Addr: 0xc000010000, Size: 8, Site: 7},
	{Kind: Read, G: 1, Addr: 0xc000010008, Size: 8},
	{Kind: WriteRange, G: 5, Addr: 0xc000010000, Size: 8, Count: 256, Stride: 16, Site: 1 << 31},
	{Kind: ReadRange, G: 5, Addr: 0xc000010000, Size: 8, Count: 512, Stride: 8},
	{Kind: CheckWrite, G: 5, Parts: []Part{{0xc000010000, 8, 256, 16}, {0xc000010008, 4, 1, 0}}, Site: 7},
	{Kind: CheckRead, G: 5, Parts: []Part{{0xc000010000, 8, 1, 0}}},
	{Kind: AtomicWrite, G: 5, Addr: MaxAddr - 8, Size: 8},
	{Kind: ReleaseAcquire, G: 5, Addr: MaxAddr - 8},
	{Kind: AtomicRead, G: 1, Addr: 1, Size: 4},
	{Kind: Acquire, G: 1, Addr: 1},
	{Kind: Release, G: 1, Addr: 2},
	{Kind: ReleaseMerge, G: 1, Addr: 2},
	{Kind: Commit, G: 1},
	{Kind: End, G: 1, Count: 1},
	{Kind: Join, Other: 1},
	{Kind: End, G: 5},
	{Kind: Free, Addr: 0xc000010000, Size: 4096},
}

func encode(t testing.TB, events []Event) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteAll(&b, events); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	seen := map[Kind]bool{}
	for i := range one {
		seen[one[i].Kind] = true
	}
	if len(seen) != int(NumKinds) {
		t.Errorf("the trace has %d kinds of %d", len(seen), NumKinds)
	}
	b := encode(t, one)
	got, err := ReadAll(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, one) {
		t.Errorf("got %v\nwant %v", got, one)
	}
	if len(b) > 240 {
		t.Errorf("%d bytes for %d events", len(b), len(one))
	}
}

// Many frames, and several bytes per event at most.
func TestLong(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var events []Event
	addr := uint64(0xc000000000)
	for range 200000 {
		addr += 8 * r.Uint64N(3)
		events = append(events, Event{Kind: Kind(r.UintN(2)), Addr: addr, Size: 8, Site: uint32(r.UintN(100))})
	}
	b := encode(t, events)
	if len(b) > 5*len(events) {
		t.Errorf("%d bytes for %d events", len(b), len(events))
	}
	got, err := ReadAll(bytes.NewReader(b))
	if err != nil || !reflect.DeepEqual(got, events) {
		t.Errorf("%d events come back, %v", len(got), err)
	}
}

// TestDamage changes, drops and doubles each byte of a file: none may pass.
func TestDamage(t *testing.T) {
	b := encode(t, one)
	refused := func(what string, at int, d []byte) {
		got, err := ReadAll(bytes.NewReader(d))
		var f *FormatError
		if !errors.As(err, &f) || f.Reason == "" {
			t.Fatalf("%s byte %d: error %v", what, at, err)
		}
		if f.Offset > int64(len(d)) || f.Event != uint64(len(got)) {
			t.Fatalf("%s byte %d: error %v after %d events", what, at, err, len(got))
		}
	}
	for i := range b {
		for bit := range 8 {
			d := bytes.Clone(b)
			d[i] ^= 1 << bit
			refused("changed", i, d)
		}
		refused("cut at", i, b[:i])
		refused("without", i, append(bytes.Clone(b[:i]), b[i+1:]...))
	}
	refused("more than", len(b), append(bytes.Clone(b), 0))
}

// raw makes a file of one frame with these bytes.
func raw(payload []byte, count uint64) []byte {
	b := append([]byte(magic), Version)
	b = binary.AppendUvarint(b, uint64(len(payload)))
	b = append(b, payload...)
	sum := chain(0, payload)
	b = binary.LittleEndian.AppendUint32(b, sum)
	n := binary.AppendUvarint(nil, count)
	b = append(append(b, 0), n...)
	return binary.LittleEndian.AppendUint32(b, chain(sum, n))
}

// Files whose checksums are right and whose contents are not.
func TestHostile(t *testing.T) {
	var c codec
	fork := c.append(nil, &Event{Kind: Fork, Other: 1})
	for _, test := range []struct {
		payload []byte
		reason  string
	}{
		{[]byte{0x3f | headSameG}, "no event of kind 63"},
		{[]byte{byte(Read) | headSameG | headNoSite}, "ends inside an event"},
		{[]byte{byte(Read) | headSameG | headNoSite, 0, 0x80, 0x00}, "needless zeros"},
		{[]byte{byte(Read) | headSameG | headNoSite, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, "more than 64 bits"},
		{[]byte{byte(Read) | headSameG | headNoSite, 0, 0}, "an access of 1 times 0 bytes"},
		{[]byte{byte(Read) | headSameG, 0, 0, 8}, "site 0"},
		{[]byte{byte(Commit), 0}, "same is written out"},
		{[]byte{byte(Commit), 3}, "goroutine 3 does not run"},
		{[]byte{byte(Commit) | headSameG | headNoSite}, "no site to leave out"},
		{[]byte{byte(Acquire) | headSameG, 1}, "too high"},
		{[]byte{byte(Name) | headSameG, 1, 9, 'x'}, "inside a text"},
		{binary.AppendUvarint([]byte{byte(Name) | headSameG, 1}, 5000), "at most 4096"},
		{binary.AppendUvarint([]byte{byte(CheckRead) | headSameG | headNoSite}, 1<<40), "at most 64"},
		{append(binary.AppendUvarint([]byte{byte(ReadRange) | headSameG | headNoSite, 0, 8}, 1<<60), 8), "an access of"},
		{append(bytes.Clone(fork), byte(Fork)|headSameG|headNoSite, 1), "forked after"},
		{append(bytes.Clone(fork), byte(Join)|headSameG, 1), "has not ended"},
	} {
		got, err := ReadAll(bytes.NewReader(raw(test.payload, 1)))
		if err == nil || !strings.Contains(err.Error(), test.reason) {
			t.Errorf("% x: events %v, error %v, want %s", test.payload, got, err, test.reason)
		}
	}
	if _, err := ReadAll(bytes.NewReader(raw(fork, 2))); err == nil || !strings.Contains(err.Error(), "counts 2 events") {
		t.Errorf("wrong count: %v", err)
	}
	long := binary.AppendUvarint(append([]byte(magic), Version), 1<<40)
	if _, err := ReadAll(bytes.NewReader(long)); err == nil || !strings.Contains(err.Error(), "at most 1048576") {
		t.Errorf("long frame: %v", err)
	}
	if _, err := ReadAll(strings.NewReader("bftrace\x02")); err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("other version: %v", err)
	}
	broken := errors.New("disk on fire")
	if _, err := ReadAll(io.MultiReader(bytes.NewReader(encode(t, one)[:20]), failing{broken})); err != broken {
		t.Errorf("error of the reader below: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// The writer refuses what a reader would, and goes on.
func TestWriterRefuses(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b)
	for _, e := range []Event{
		{Kind: Write, G: 1, Addr: 8, Size: 8}, {Kind: Write, Addr: MaxAddr - 4, Size: 8}, {Kind: NumKinds},
		{Kind: ReadRange, Addr: 8, Size: 8, Count: 4, Stride: 4}, {Kind: ReadRange, Addr: 8, Size: 8, Count: 1, Stride: 8},
		{Kind: ReadRange, Addr: 8, Size: 1, Count: MaxAccess, Stride: 1 << 40}, {Kind: Array, Addr: 8, Size: 1 << 30, Count: 1 << 30},
		{Kind: CheckRead}, {Kind: End, Count: 2}, {Kind: Malloc, Addr: 8}, {Kind: Proxy}, {Kind: Name, Text: strings.Repeat("x", 5000)},
	} {
		if err := w.Write(&e); err == nil {
			t.Errorf("%v is accepted", &e)
		}
	}
	if err := w.Write(&one[0]); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if w.Write(&one[0]) == nil || w.Close() == nil {
		t.Error("a closed trace is written to")
	}
	if got, err := ReadAll(&b); err != nil || len(got) != 1 {
		t.Error(got, err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add(encode(f, one))
	f.Add(encode(f, one[:4]))
	f.Add(encode(f, nil))
	f.Add(raw([]byte{byte(Commit) | headSameG}, 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		// The checksum stops nearly all changes, so look behind it too.
		fuzzFile(t, b)
		if len(b) > 0 && len(b) < MaxFrame {
			fuzzFile(t, raw(b, 1))
		}
	})
}

func fuzzFile(t *testing.T, b []byte) {
	got, err := ReadAll(bytes.NewReader(b))
	if err != nil {
		var f *FormatError
		if !errors.As(err, &f) {
			t.Fatalf("error %T: %v", err, err)
		}
		return
	}
	again, err := ReadAll(bytes.NewReader(encode(t, got)))
	if err != nil || !reflect.DeepEqual(got, again) {
		t.Fatalf("%v comes back as %v, %v", got, again, err)
	}
}

// TestMinimize hides a lock order in noise; what is left is what keep asks for and
// the forks that it needs.
func TestMinimize(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	events := []Event{{Kind: Fork, Other: 1}, {Kind: Fork, G: 1, Other: 2}, {Kind: Fork, Other: 3}}
	for range 500 {
		events = append(events, Event{Kind: Read, G: uint32(r.UintN(4)), Addr: 8 * r.Uint64N(100), Size: 8})
	}
	events = append(events, Event{Kind: WriteRange, G: 2, Addr: 8000, Size: 8, Count: 100, Stride: 16},
		Event{Kind: CheckRead, G: 3, Parts: []Part{{1, 1, 1, 0}, {2, 1, 1, 0}, {3, 1, 1, 0}}})
	for range 500 {
		events = append(events, Event{Kind: Read, G: uint32(r.UintN(4)), Addr: 8 * r.Uint64N(100), Size: 8})
	}
	calls := 0
	keep := func(events []Event) bool {
		calls++
		a, b := false, false
		for i := range events {
			for _, p := range events[i].Pieces() {
				last := p.Addr + (p.Count-1)*p.Stride
				a = a || events[i].Kind.IsWrite() && p.Addr <= 8592 && last >= 8592 && events[i].G == 2
				b = b || events[i].Kind == CheckRead && p.Addr == 2
			}
		}
		return a && b
	}
	got := Minimize(events, 10000, keep)
	want := []Event{{Kind: Fork, Other: 1}, {Kind: Fork, G: 1, Other: 2}, {Kind: Fork, Other: 3},
		{Kind: Write, G: 2, Addr: 8592, Size: 8}, {Kind: CheckRead, G: 3, Parts: []Part{{2, 1, 1, 0}}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	if calls > 300 {
		t.Errorf("%d calls", calls)
	}
	calls = 0
	if got := Minimize(events, 3, keep); calls != 3 || !keep(got) {
		t.Errorf("%d calls with a budget of 3", calls)
	}
}
