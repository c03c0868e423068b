package cache

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// layout is the version of what the store holds and how. Another layout is another
// folder: values of an older one are never read.
const layout = 1

// maxValue is the largest value that is kept.
const maxValue = 256 << 20

var (
	encoder, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	decoder, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(1<<30))
)

// errSeal reports a stored value that is not what was put.
var errSeal = errors.New("a value is damaged")

// seal returns what is stored for a value: the checksum, and the compressed value.
//
//	checksum = SHA-256(layout, kind, key, compressed value)
func seal(kind Kind, key Key, value []byte) ([]byte, error) {
	out := encoder.EncodeAll(value, make([]byte, sha256.Size, sha256.Size+len(value)/3))
	if len(out) > maxValue {
		return nil, fmt.Errorf("a value of %d MB is too large to be kept", len(out)>>20)
	}
	sum := checksum(kind, key, out[sha256.Size:])
	copy(out, sum[:])
	return out, nil
}

// unseal returns the value, or errSeal.
func unseal(kind Kind, key Key, stored []byte) ([]byte, error) {
	if len(stored) < sha256.Size {
		return nil, errSeal
	}
	sum := checksum(kind, key, stored[sha256.Size:])
	if !bytes.Equal(sum[:], stored[:sha256.Size]) {
		return nil, errSeal
	}
	value, err := decoder.DecodeAll(stored[sha256.Size:], nil)
	if err != nil {
		return nil, errSeal
	}
	return value, nil
}

func checksum(kind Kind, key Key, data []byte) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte{layout, byte(kind)})
	h.Write(key[:])
	h.Write(data)
	return [sha256.Size]byte(h.Sum(nil))
}
