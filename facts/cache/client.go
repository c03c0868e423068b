package cache

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Timeout is how long a Client waits for one answer. A slower store is of no use.
const Timeout = 20 * time.Second

// A Client is a store that another process keeps open, which Serve runs in. It is for
// one goroutine. After an error everything is a miss, and nothing is kept.
type Client struct {
	// Damaged counts what the store found damaged, once it is closed.
	Damaged int
	cmd     *exec.Cmd
	to      *os.File // of the process, what it reads
	from    *os.File
	w       *bufio.Writer
	r       *bufio.Reader
	said    bytes.Buffer // on stderr
	err     error
}

// Start starts cmd, which is to call Serve with its standard input and output, and
// waits until its store is open. Errors: ErrInUse, or why there is no store.
func Start(cmd *exec.Cmd) (*Client, error) {
	c := &Client{cmd: cmd}
	in, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	from, out, err := os.Pipe()
	if err != nil {
		in.Close()
		to.Close()
		return nil, err
	}
	c.to, c.from = to, from
	c.w, c.r = bufio.NewWriterSize(to, 1<<16), bufio.NewReaderSize(from, 1<<16)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &c.said
	err = cmd.Start()
	in.Close()
	out.Close()
	if err != nil {
		to.Close()
		from.Close()
		return nil, err
	}
	c.limit(Wait + Timeout)
	if _, _, err := c.reply(); err != nil {
		c.end()
		return nil, c.err
	}
	return c, nil
}

// limit ends what comes next after d.
func (c *Client) limit(d time.Duration) {
	t := time.Now().Add(d)
	c.to.SetWriteDeadline(t)
	c.from.SetReadDeadline(t)
}

// reply reads the answer to the last request. Its error is c.err, too.
func (c *Client) reply() (status byte, value []byte, err error) {
	status, err = c.r.ReadByte()
	if err == nil {
		value, err = readValue(c.r)
	}
	switch {
	case err != nil:
		c.err = err
	case status == replyBusy:
		c.err = ErrInUse
	case status == replyError:
		c.err = errors.New(string(value))
	}
	return status, value, c.err
}

func (c *Client) ask(op byte, kind Kind, key Key, value []byte) (status byte, answer []byte) {
	if c.err != nil {
		return replyError, nil
	}
	c.limit(Timeout)
	if c.err = writeRequest(c.w, op, kind, key, value); c.err != nil {
		return replyError, nil
	}
	status, answer, _ = c.reply()
	return status, answer
}

// Get returns the value under a key, or false.
func (c *Client) Get(kind Kind, key Key) ([]byte, bool) {
	status, value := c.ask(opGet, kind, key, nil)
	return value, status == replyOK && c.err == nil
}

// Put keeps a value. That it could not is said by Close.
func (c *Client) Put(kind Kind, key Key, value []byte) { c.ask(opPut, kind, key, value) }

// Close closes the store and returns the first error there was.
func (c *Client) Close() error {
	if c.err == nil {
		c.limit(10 * Timeout) // the store may have to be made smaller
		if c.err = writeRequest(c.w, opClose, 0, Key{}, nil); c.err == nil {
			if _, n, err := c.reply(); err == nil && len(n) == 8 {
				c.Damaged = int(binary.LittleEndian.Uint64(n))
			}
		}
	}
	c.end()
	return c.err
}

// end ends the process, and says in c.err how it ended where that is the reason that
// it did not answer.
func (c *Client) end() {
	c.to.Close()
	c.from.Close()
	done := make(chan error, 1)
	go func() { done <- c.cmd.Wait() }()
	var err error
	select {
	case err = <-done:
	case <-time.After(Timeout):
		c.cmd.Process.Kill()
		err = <-done
	}
	if err != nil && c.err != nil && !errors.Is(c.err, ErrInUse) {
		why := err.Error()
		if line, _, _ := strings.Cut(strings.TrimSpace(c.said.String()), "\n"); line != "" {
			if strings.HasPrefix(line, "unexpected fault address") {
				line = "its files cannot be written where they are mapped into memory, as on a full disk"
			}
			why += ": " + line
		}
		c.err = fmt.Errorf("the process that keeps the cache open ended: %s", why)
	}
}
