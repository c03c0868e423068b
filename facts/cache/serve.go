package cache

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Wait is how long a store in use is waited for.
const Wait = time.Second

// The messages between a Client and Serve. A request is an operation, a kind, a key
// and a value; a reply is a status and a text or a value. Values have their length
// before them, eight bytes.
const (
	opGet   = 'g'
	opPut   = 'p'
	opClose = 'c'

	replyOK    = 'k'
	replyMiss  = 'm'
	replyBusy  = 'b'
	replyError = 'e' // with a text
)

// Serve opens the store in dir and does what a Client asks for over in and out, up to
// the end of in. It does not end at signals, which the terminal sends to the Client
// too: what was put is to be kept.
func Serve(in io.Reader, out io.Writer, dir string, max int64) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	r, w := bufio.NewReader(in), bufio.NewWriter(out)
	reply := func(status byte, value []byte) error {
		if err := w.WriteByte(status); err != nil {
			return err
		}
		if err := writeValue(w, value); err != nil {
			return err
		}
		return w.Flush()
	}
	s, err := openWaiting(dir, max)
	if errors.Is(err, ErrInUse) {
		return reply(replyBusy, nil)
	}
	if err != nil {
		return reply(replyError, []byte(err.Error()))
	}
	err = s.serve(r, reply)
	if err2 := s.Close(); err == nil {
		err = err2
	}
	if err != nil {
		return reply(replyError, []byte(err.Error()))
	}
	return reply(replyOK, binary.LittleEndian.AppendUint64(nil, uint64(s.Damaged)))
}

// openWaiting is Open, but waits for a store in use.
func openWaiting(dir string, max int64) (*Store, error) {
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		s, err := Open(dir, max)
		if !errors.Is(err, ErrInUse) || time.Since(start) > Wait {
			return s, err
		}
	}
}

// serve answers requests until there are no more.
func (s *Store) serve(r *bufio.Reader, reply func(byte, []byte) error) error {
	if err := reply(replyOK, nil); err != nil {
		return nil // the client is gone
	}
	for {
		op, kind, key, value, err := readRequest(r)
		if err != nil || op == opClose {
			return nil
		}
		switch op {
		case opGet:
			if v, ok := s.Get(kind, key); ok {
				err = reply(replyOK, v)
			} else {
				err = reply(replyMiss, nil)
			}
		case opPut:
			if err := s.Put(kind, key, value); err != nil {
				return err
			}
			err = reply(replyOK, nil)
		default:
			return fmt.Errorf("there is no operation %q", op)
		}
		if err != nil {
			return nil // the client is gone
		}
	}
}

func readRequest(r *bufio.Reader) (op byte, kind Kind, key Key, value []byte, err error) {
	var head [2 + len(key)]byte
	if _, err = io.ReadFull(r, head[:]); err == nil {
		value, err = readValue(r)
	}
	return head[0], Kind(head[1]), Key(head[2:]), value, err
}

func writeRequest(w *bufio.Writer, op byte, kind Kind, key Key, value []byte) error {
	w.Write(append([]byte{op, byte(kind)}, key[:]...))
	if err := writeValue(w, value); err != nil {
		return err
	}
	return w.Flush()
}

func writeValue(w *bufio.Writer, value []byte) error {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(value)))
	w.Write(n[:])
	_, err := w.Write(value)
	return err
}

func readValue(r *bufio.Reader) ([]byte, error) {
	var n [8]byte
	if _, err := io.ReadFull(r, n[:]); err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint64(n[:])
	if size > 4*maxValue {
		return nil, errSeal
	}
	value := make([]byte, size)
	_, err := io.ReadFull(r, value)
	return value, err
}
