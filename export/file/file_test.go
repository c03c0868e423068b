package file_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/bfverify/bfverify/export/check"
	"github.com/bfverify/bfverify/export/file"
	"github.com/bfverify/bfverify/export/proof"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/extract"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/models"
	"github.com/bfverify/bfverify/stages"
)

// One program is free of races and the other is not: it does not wait.
const source = `package main

type account struct {
	sum  int
	done chan bool
}

func (a *account) pay() {
	a.sum++
	close(a.done)
}

func main() {
	a := &account{done: make(chan bool)}
	go a.pay()
	<-a.done
	println(a.sum)
}
`

// facts2 finds the facts of both programs, from source each time.
func facts2(t *testing.T) map[string]*facts.Program {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module m\n\ngo 1.26\n", "good/main.go": source,
		"racy/main.go": strings.Replace(source, "\t<-a.done\n", "", 1)} {
		p := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o777), os.WriteFile(p, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	res, err := load.Load(context.Background(), load.Config{Dir: dir, Patterns: []string{"./..."}, Models: models.Files()})
	if err != nil {
		t.Fatal(err)
	}
	u, err := extract.Universe(res)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*facts.Program{}
	for _, p := range res.Programs {
		fp, err := extract.Link(u, p)
		if err != nil {
			t.Fatal(err)
		}
		out[p.Path] = fp
	}
	return out
}

func write(t *testing.T, p *facts.Program) []byte {
	t.Helper()
	c, _, err := proof.Make(context.Background(), p, stages.Options{Ctx: "hybrid", K: 1, HK: -1})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	h := file.Header{Program: p.Path, Packages: []file.Package{{Path: p.Path, Hash: "0"}}, NotChecked: map[string]int{"b": 1, "a": 2}}
	if err := file.New(h, p, c).Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// judge reads a proof and judges it of a program.
func judge(b []byte, p *facts.Program) (*check.Report, error) {
	f, err := file.Read(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	c, err := f.For(p)
	if err != nil {
		return nil, err
	}
	return check.Check(p, nil, c), nil
}

// TestFile holds that a proof that is written, and read beside facts that were found
// again, proves what it proved; that the same input gives the same bytes; and that a
// proof of one program is none of another.
func TestFile(t *testing.T) {
	one, two := facts2(t), facts2(t)
	good := write(t, one["m/good"])
	if !bytes.Equal(good, write(t, two["m/good"])) {
		t.Error("two proofs of the same program differ")
	}
	if rep, err := judge(good, two["m/good"]); err != nil || !rep.Proved() {
		t.Errorf("the proof does not hold after it was written and read: %v %+v", err, rep)
	}
	if rep, err := judge(good, two["m/racy"]); err == nil && rep.Proved() {
		t.Error("UNSOUND: the proof of another program proves one that races")
	}
	if rep, err := judge(write(t, one["m/racy"]), two["m/racy"]); err != nil || rep.Failed != nil || rep.Open == 0 {
		t.Errorf("a proof of a program that races: %v %+v", err, rep)
	}
}

// TestBytes changes bytes of proofs of a program that races, compressed or not, cuts
// them off, and adds some: whatever comes of it, reading and checking end with an
// error, or do not prove.
func TestBytes(t *testing.T) {
	p := facts2(t)
	racy := p["m/racy"]
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	raw, err := z.DecodeAll(write(t, racy), nil)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(9, 10))
	read, refused := 0, 0
	for n := range 4000 {
		b := slices.Clone(raw)
		switch at := rng.IntN(len(b)); n % 4 {
		case 0:
			b = b[:at]
		case 1:
			b = slices.Insert(b, at, byte(rng.Uint32()))
		default:
			b[at] ^= 1 << rng.IntN(8)
		}
		packed := w.EncodeAll(b, nil)
		if n%8 == 7 { // damage to what zstd has made
			packed[rng.IntN(len(packed))] ^= byte(1 + rng.IntN(255))
		}
		rep, err := judge(packed, racy)
		switch {
		case err == nil && rep.Proved():
			t.Fatal("UNSOUND: a program that races is proved")
		case err != nil:
			refused++
		default:
			read++
		}
	}
	if read < 100 || refused < 1000 {
		t.Errorf("%d proofs could be read, and %d not", read, refused)
	}
}

// TestHostile reads what is no proof: each is refused, and says why.
func TestHostile(t *testing.T) {
	pack := func(v any) []byte {
		b, err := cbor.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		w, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		return w.EncodeAll(b, nil)
	}
	bomb, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer bomb.Close()
	for _, x := range []struct {
		name, want string
		b          []byte
	}{
		{"nothing", "", nil},
		{"text", "magic number", []byte("PROVED")},
		{"no map", "", pack(7)},
		{"no format", "format 0", pack(map[string]int{})},
		{"a later format", "format 2", pack(map[string]int{"Format": 2})},
		{"no claims", "no claims", pack(map[string]int{"Format": file.Format})},
		{"an unknown field", "unknown field", pack(map[string]int{"Format": file.Format, "Trusted": 1})},
		{"an array that is announced and does not come", "exceeded max", bomb.EncodeAll([]byte{0x9b, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff}, nil)},
		{"zeros without end", "", bomb.EncodeAll(make([]byte, 64<<20), nil)},
	} {
		_, err := file.Read(bytes.NewReader(x.b))
		if !errors.Is(err, file.ErrFormat) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", x.name, err, x.want)
		}
	}
}

// TestChanged names packages of which the source is another.
func TestChanged(t *testing.T) {
	f := &file.File{Header: file.Header{Packages: []file.Package{{Path: "a", Hash: "1"}, {Path: "b", Hash: "1"}, {Path: "c", Hash: "1"}}}}
	now := []file.Package{{Path: "b", Hash: "2"}, {Path: "c", Hash: "1"}, {Path: "d", Hash: "1"}}
	if got := strings.Join(f.Changed(now), " "); got != "a b d" {
		t.Errorf("changed: %s", got)
	}
}
