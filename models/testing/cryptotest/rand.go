//go:build bfmodel

// Both functions are linknames: of crypto/internal/rand.SetTestingReader, which
// this calls, so that the reader is stored and used as there; and of
// testing.checkParallel, which looks at the runner's own state of the test (see
// the models of testing) and panics or not.
package cryptotest

import (
	"crypto/internal/rand"
	"io"
	"testing"
)

func bf_randSetTestingReader(r io.Reader) { rand.SetTestingReader(r) }

func bf_testingCheckParallel(t *testing.T) {}
