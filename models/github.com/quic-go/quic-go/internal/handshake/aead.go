//go:build bfmodel

// A linkname of crypto/tls.aeadAESGCMTLS13, which makes a cipher of the key and
// copies the mask. The cipher that it returns changes its mask during a call and
// back, and counts what it sealed, all without a lock: two goroutines that use it
// race. So does this one, around the same cipher of package aes.
package handshake

import (
	"crypto/aes"
	"crypto/cipher"
)

type bfx_aead struct {
	mask [12]byte
	next uint64
	aead cipher.AEAD
}

func (f *bfx_aead) NonceSize() int { return 8 }

func (f *bfx_aead) Overhead() int { return f.aead.Overhead() }

func (f *bfx_aead) bfx_mix(nonce []byte) {
	for i, b := range nonce {
		f.mask[4+i] ^= b
	}
	f.next++
}

func (f *bfx_aead) Seal(out, nonce, plaintext, additionalData []byte) []byte {
	f.bfx_mix(nonce)
	return f.aead.Seal(out, f.mask[:], plaintext, additionalData)
}

func (f *bfx_aead) Open(out, nonce, ciphertext, additionalData []byte) ([]byte, error) {
	f.bfx_mix(nonce)
	return f.aead.Open(out, f.mask[:], ciphertext, additionalData)
}

func bf_cryptoTLSAEAD_AESGCMTLS13(key, nonceMask []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	f := &bfx_aead{aead: aead}
	copy(f.mask[:], nonceMask)
	return f
}
