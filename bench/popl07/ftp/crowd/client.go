package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// A client is the other end of a session.
type client struct {
	conn net.Conn
	in   *bufio.Reader
}

// dial connects and reads the greeting.
func dial(addr string) (*client, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &client{conn, bufio.NewReader(conn)}
	if _, err := c.expect(220); err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

// expect reads a reply, which has to have a code.
func (c *client) expect(code int) (string, error) {
	line, err := c.in.ReadString('\n')
	if err != nil {
		return "", err
	}
	number, text, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
	if number != strconv.Itoa(code) {
		return "", fmt.Errorf("the server says %s %s, not %d", number, text, code)
	}
	return text, nil
}

// do sends a command and reads its reply.
func (c *client) do(code int, format string, args ...any) (string, error) {
	if _, err := fmt.Fprintf(c.conn, format+"\r\n", args...); err != nil {
		return "", err
	}
	text, err := c.expect(code)
	if err != nil {
		err = fmt.Errorf(format+": %w", append(args[:len(args):len(args)], err)...)
	}
	return text, err
}

// all does one command after the other.
func (c *client) all(steps ...step) error {
	for _, s := range steps {
		if _, err := c.do(s.code, "%s", s.line); err != nil {
			return err
		}
	}
	return nil
}

// A step is a command and the code of the reply that it should have.
type step struct {
	code int
	line string
}

// data does a command for which the server opens a connection, and uses that.
func (c *client) data(command string, use func(net.Conn) error) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	if err := l.(*net.TCPListener).SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	a := l.Addr().(*net.TCPAddr)
	ip := a.IP.To4()
	if _, err := c.do(200, "PORT %d,%d,%d,%d,%d,%d", ip[0], ip[1], ip[2], ip[3], a.Port>>8, a.Port&255); err != nil {
		return err
	}
	if _, err := c.do(150, "%s", command); err != nil {
		return err
	}
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	err = use(conn)
	if err := errors.Join(err, conn.Close()); err != nil {
		return err
	}
	_, err = c.expect(226)
	return err
}

// store sends a file.
func (c *client) store(name string, data []byte) error {
	return c.data("STOR "+name, func(conn net.Conn) error {
		_, err := conn.Write(data)
		return err
	})
}

// fetch returns what a command sends.
func (c *client) fetch(command string) (data []byte, err error) {
	err = c.data(command, func(conn net.Conn) error {
		var err error
		data, err = io.ReadAll(conn)
		return err
	})
	return data, err
}

// content is what file i holds.
func content(i int) []byte {
	var b bytes.Buffer
	for line := range 50 + 10*i {
		fmt.Fprintf(&b, "file %d, line %d\n", i, line*line)
	}
	return b.Bytes()
}

// work is what client i does: it stores files, looks at them, fetches them, and
// deletes every second one. It returns the bytes that it has stored and fetched.
func work(addr string, i, files int) (stored, loaded int64, err error) {
	c, err := dial(addr)
	if err != nil {
		return 0, 0, err
	}
	defer c.conn.Close()
	if err := c.all(
		step{331, fmt.Sprint("USER user", i)}, step{530, "PASS wrong"}, step{530, "PWD"},
		step{331, fmt.Sprint("USER user", i)}, step{230, fmt.Sprint("PASS pass", i)},
		step{200, "TYPE I"}, step{257, fmt.Sprint("MKD dir", i)}, step{250, fmt.Sprint("CWD dir", i)},
	); err != nil {
		return 0, 0, err
	}
	for k := range files {
		data := content(k)
		if err := c.store(fmt.Sprint("draft", k), data); err != nil {
			return stored, loaded, err
		}
		stored += int64(len(data))
		if err := c.all(step{350, fmt.Sprint("RNFR draft", k)}, step{250, fmt.Sprint("RNTO file", k)}); err != nil {
			return stored, loaded, err
		}
	}
	listing, err := c.fetch("NLST")
	if n := bytes.Count(listing, []byte("\n")); err == nil && n != files {
		err = fmt.Errorf("%d files are listed, not %d", n, files)
	}
	for k := 0; k < files && err == nil; k++ {
		var data []byte
		data, err = c.fetch(fmt.Sprint("RETR file", k))
		loaded += int64(len(data))
		if err == nil && !bytes.Equal(data, content(k)) {
			err = fmt.Errorf("file %d comes back as another", k)
		}
		if err == nil {
			err = c.all(step{213, fmt.Sprint("SIZE file", k)})
		}
		if err == nil && k%2 == 1 {
			err = c.all(step{250, fmt.Sprint("DELE file", k)})
		}
	}
	if err == nil {
		err = c.all(step{211, "STAT"}, step{250, "CDUP"}, step{550, fmt.Sprint("RMD dir", i)}, step{221, "QUIT"})
	}
	return stored, loaded, err
}

// idle logs in, looks around, and waits until the server closes the session.
func idle(addr string) error {
	c, err := dial(addr)
	if err != nil {
		return err
	}
	defer c.conn.Close()
	if err := c.all(step{331, "USER anonymous"}, step{230, "PASS me@example.com"}); err != nil {
		return err
	}
	if _, err := c.fetch("NLST"); err != nil {
		return err
	}
	if err := c.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err = c.expect(421)
	return err
}

// patience is how long a client waits for the server.
const patience = 10 * time.Second

// restless comes, looks around and goes, until the server stops.
func restless(addr string) {
	for {
		c, err := dial(addr)
		if err != nil {
			return
		}
		err = c.all(step{331, "USER anonymous"}, step{230, "PASS me@example.com"})
		for k := 0; k < 3 && err == nil; k++ {
			_, err = c.fetch("LIST")
		}
		if err == nil {
			_, err = c.do(221, "QUIT")
		}
		c.conn.Close()
	}
}
