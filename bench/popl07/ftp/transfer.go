package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// transferLimit bounds how long a client may take to connect, and to move a file.
const transferLimit = 5 * time.Second

var errNoPort = errors.New("use PORT first")

// cmdPort says where the data of the next transfer goes: to h1,h2,h3,h4,p1,p2.
func (c *session) cmdPort(arg string) {
	var n [6]uint8
	if _, err := fmt.Sscanf(arg, "%d,%d,%d,%d,%d,%d", &n[0], &n[1], &n[2], &n[3], &n[4], &n[5]); err != nil {
		c.reply(501, "that is no port")
		return
	}
	c.port = fmt.Sprintf("%d.%d.%d.%d:%d", n[0], n[1], n[2], n[3], int(n[4])<<8|int(n[5]))
	c.reply(200, "data goes to %s", c.port)
}

// transfer connects to the port of the client and moves data over the connection.
func (c *session) transfer(move func(net.Conn) error) {
	conn, err := c.connect()
	if err == nil {
		err = move(conn)
	}
	c.drop()
	if err != nil {
		c.reply(426, "%v", err)
		return
	}
	c.reply(226, "done")
}

// connect opens the connection for data.
func (c *session) connect() (net.Conn, error) {
	if c.port == "" {
		return nil, errNoPort
	}
	c.reply(150, "here it comes")
	conn, err := net.DialTimeout("tcp", c.port, transferLimit) // want: outside "inside of net, as session.drop closes the connection"
	c.port = ""
	if err != nil {
		return nil, err
	}
	c.data = conn // want: race session.data
	return conn, conn.SetDeadline(time.Now().Add(transferLimit))
}

// text returns data with the ends of lines that TYPE A asks for.
func (c *session) text(data string) string {
	if c.binary {
		return data
	}
	return strings.ReplaceAll(data, "\n", "\r\n")
}

func (c *session) list(arg string, long bool) {
	lines, err := c.srv.files.list(c.path(arg), long)
	if err != nil {
		c.reply(550, "%v", err)
		return
	}
	c.transfer(func(conn net.Conn) error {
		var b strings.Builder
		for _, l := range lines {
			b.WriteString(l)
			b.WriteString("\r\n")
		}
		_, err := io.WriteString(conn, b.String())
		return err
	})
}

func (c *session) cmdList(arg string) { c.list(arg, true) }
func (c *session) cmdNlst(arg string) { c.list(arg, false) }

func (c *session) cmdRetr(arg string) {
	data, err := c.srv.files.read(c.path(arg))
	if err != nil {
		c.reply(550, "%v", err)
		return
	}
	c.transfer(func(conn net.Conn) error {
		n, err := io.WriteString(conn, c.text(data))
		c.srv.stats.fetch(n)
		return err
	})
}

func (c *session) cmdStor(arg string) {
	name := c.path(arg)
	c.transfer(func(conn net.Conn) error {
		all, err := io.ReadAll(conn)
		if err != nil {
			return fmt.Errorf("nothing stored: %w", err)
		}
		data := string(all)
		if !c.binary {
			data = strings.ReplaceAll(data, "\r\n", "\n")
		}
		c.srv.stats.upload(len(data))
		return c.srv.files.write(name, data)
	})
}
