//go:build bfmodel

// readMIMEHeader is net/textproto's, reached by a linkname: ReadMIMEHeader
// with limits.
package multipart

import "net/textproto"

func bf_readMIMEHeader(r *textproto.Reader, maxMemory, maxHeaders int64) (textproto.MIMEHeader, error) {
	return r.ReadMIMEHeader()
}
