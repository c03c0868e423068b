//go:build bfmodel

// What the package takes from its pools belongs to one connection or request
// until it is put back, which happens when nothing else refers to it (a
// hijacked connection keeps its buffers): it is as good as fresh.
package http

import (
	"bufio"
	"io"
	"net/textproto"
)

//bf:inline
func bf_newBufioReader(r io.Reader) *bufio.Reader { return bufio.NewReader(r) }

//bf:inline
func bf_putBufioReader(br *bufio.Reader) { br.Reset(nil) }

//bf:inline
func bf_newBufioWriterSize(w io.Writer, size int) *bufio.Writer { return bufio.NewWriterSize(w, size) }

//bf:inline
func bf_putBufioWriter(bw *bufio.Writer) { bw.Reset(nil) }

//bf:inline
func bf_newTextprotoReader(br *bufio.Reader) *textproto.Reader { return textproto.NewReader(br) }

//bf:inline
func bf_putTextprotoReader(r *textproto.Reader) { r.R = nil }

//bf:inline
func bf_getCopyBuf() []byte { return make([]byte, copyBufPoolSize) }

//bf:inline
func bf_putCopyBuf(b []byte) { clear(b) }
