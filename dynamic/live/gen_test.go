package live

import (
	"os"
	"runtime"
	"testing"
)

func TestNew(t *testing.T) {
	o, err := New(runtime.GOROOT())
	if err != nil {
		t.Fatal(err)
	}
	f, err := o.Write(os.Getenv("OUT"))
	t.Log(f, err)
}
