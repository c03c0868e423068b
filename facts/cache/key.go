package cache

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// A Key names a value: the hash of its recipe.
type Key [sha256.Size]byte

// String returns the start of the key, for messages.
func (k Key) String() string { return hex.EncodeToString(k[:6]) }

// A Kind says what a value is. Values of two kinds share no key.
type Kind byte

// The kinds.
const (
	Run    Kind = 'r' // what a run of the command found
	Facts  Kind = 'f' // facts of one package
	Export Kind = 'x' // its export data
	Hint   Kind = 'h' // what the last run saw, for guesses
)

// A Recipe hashes the inputs of a value. Each is written with its length, so that
// two lists of inputs have one hash only if they are equal.
type Recipe struct{ h hash.Hash }

// NewRecipe starts a recipe. what names the computation and its version: raise it
// when the computation changes and the program's own hash is no part of the recipe.
func NewRecipe(what string) *Recipe {
	r := &Recipe{sha256.New()}
	r.String(what)
	return r
}

// String adds a text.
func (r *Recipe) String(s string) {
	r.Int(int64(len(s)))
	r.h.Write([]byte(s))
}

// Strings adds a list of texts.
func (r *Recipe) Strings(list []string) {
	r.Int(int64(len(list)))
	for _, s := range list {
		r.String(s)
	}
}

// Int adds a number.
func (r *Recipe) Int(n int64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	r.h.Write(b[:])
}

// Bool adds a truth value.
func (r *Recipe) Bool(b bool) {
	if b {
		r.Int(1)
	} else {
		r.Int(0)
	}
}

// Key adds another key, or a hash of a file.
func (r *Recipe) Key(k Key) { r.h.Write(k[:]) }

// Sum returns the key. The recipe may be written on.
func (r *Recipe) Sum() (k Key) {
	r.h.Sum(k[:0])
	return k
}
