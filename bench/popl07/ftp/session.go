package main

import (
	"bufio"
	"fmt"
	"net"
	"path"
	"strings"
	"time"
)

// A session is one client's connection. Its goroutine is serve; watch and stop look
// at it and close it from theirs.
type session struct {
	id   int
	srv  *server
	conn net.Conn
	in   *bufio.Reader
	out  *bufio.Writer

	user   string // as given by USER
	inside bool   // logged in
	home   string // paths begin there
	dir    string // the current folder, from home
	binary bool   // as chosen by TYPE
	from   string // what RNFR named
	quit   bool
	port   string    // where PORT said that data goes
	data   net.Conn  // the connection there, while it is used
	last   time.Time // when the client last said something
	closed bool
}

func newSession(id int, srv *server, conn net.Conn) *session {
	return &session{
		id: id, srv: srv, conn: conn, out: bufio.NewWriter(conn),
		in:  bufio.NewReader(conn), // want: alarm bufio.Reader "what makes the reader calls others that fill it before it is known: published looks at the maker's own writes"
		dir: "/", last: time.Now(),
	}
}

// silent returns for how long the client has said nothing.
func (c *session) silent(now time.Time) time.Duration {
	return now.Sub(c.last) // want: race session.last
}

// close ends the session, whoever asks for it.
func (c *session) close(why string) {
	if c.closed { // want: race session.closed
		return
	}
	c.closed = true // want: race session.closed
	c.drop()
	c.reply(421, "%s", why)
	c.conn.Close()
}

// drop ends the transfer that goes on, if one does.
func (c *session) drop() {
	if d := c.data; d != nil { // want: race session.data
		d.Close()    // want: outside "inside of net, of the connection that was made there: out of scope"
		c.data = nil // want: race session.data
	}
}

// A handler carries out a command.
type handler struct {
	do    func(c *session, arg string)
	login bool // only who has logged in may ask for it
}

var handlers map[string]handler

func init() {
	handlers = map[string]handler{
		"USER": {(*session).cmdUser, false},
		"PASS": {(*session).cmdPass, false},
		"QUIT": {(*session).cmdQuit, false},
		"NOOP": {(*session).cmdNoop, false},
		"SYST": {(*session).cmdSyst, false},
		"STAT": {(*session).cmdStat, true},
		"TYPE": {(*session).cmdType, true},
		"PWD":  {(*session).cmdPwd, true},
		"CWD":  {(*session).cmdCwd, true},
		"CDUP": {(*session).cmdCdup, true},
		"MKD":  {(*session).cmdMkd, true},
		"RMD":  {(*session).cmdRmd, true},
		"DELE": {(*session).cmdDele, true},
		"RNFR": {(*session).cmdRnfr, true},
		"RNTO": {(*session).cmdRnto, true},
		"SIZE": {(*session).cmdSize, true},
		"PORT": {(*session).cmdPort, true},
		"LIST": {(*session).cmdList, true},
		"NLST": {(*session).cmdNlst, true},
		"RETR": {(*session).cmdRetr, true},
		"STOR": {(*session).cmdStor, true},
	}
}

// serve answers commands until the client leaves or the session is closed.
func (c *session) serve() {
	c.srv.log.Printf("session %d of %v begins", c.id, c.conn.RemoteAddr())
	c.reply(220, "at your service")
	for !c.quit && !c.closed { // want: race session.closed
		line, err := c.in.ReadString('\n')
		if err != nil {
			c.srv.log.Printf("session %d: %v", c.id, err)
			break
		}
		c.last = time.Now() // want: race session.last
		c.command(strings.TrimRight(line, "\r\n"))
	}
	if c.inside {
		c.srv.people.logout(c.user)
	}
	c.close("goodbye")
	c.srv.log.Printf("session %d ends", c.id)
}

// command carries out one line.
func (c *session) command(line string) {
	c.srv.stats.command()
	name, arg, _ := strings.Cut(line, " ")
	h, ok := handlers[strings.ToUpper(name)]
	switch {
	case !ok:
		c.reply(502, "%s is not known here", name)
	case h.login && !c.inside:
		c.reply(530, "log in first")
	default:
		h.do(c, arg)
	}
}

// reply sends one line.
func (c *session) reply(code int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	fmt.Fprintf(c.out, "%d %s\r\n", code, text) // want: race bufio.Writer
	c.out.Flush()                               // want: race bufio.Writer
}

// answer sends a reply that says whether something was done.
func (c *session) answer(err error, code int, done string) {
	if err != nil {
		c.reply(550, "%v", err)
		return
	}
	c.reply(code, "%s", done)
}

// path returns the path in the tree that the client means.
func (c *session) path(arg string) string {
	if !path.IsAbs(arg) {
		arg = path.Join(c.dir, arg)
	}
	return path.Join(c.home, path.Clean("/"+arg))
}

func (c *session) cmdUser(arg string) {
	if c.inside {
		c.reply(530, "you are %s already", c.user)
		return
	}
	c.user = arg
	c.reply(331, "and the password?")
}

func (c *session) cmdPass(arg string) {
	if c.inside || c.user == "" {
		c.reply(503, "first say who you are")
		return
	}
	home, err := c.srv.people.login(c.user, arg)
	c.srv.stats.login(err == nil)
	if err != nil {
		c.reply(530, "%v", err)
		return
	}
	c.inside, c.home, c.dir = true, home, "/"
	c.reply(230, "welcome, %s", c.user)
}

func (c *session) cmdQuit(string) {
	c.quit = true
	c.reply(221, "goodbye")
}

func (c *session) cmdNoop(string) { c.reply(200, "nothing done") }
func (c *session) cmdSyst(string) { c.reply(215, "UNIX Type: L8") }

func (c *session) cmdStat(string) {
	c.reply(211, "%d are logged in", c.srv.people.present())
}

func (c *session) cmdType(arg string) {
	switch strings.ToUpper(arg) {
	case "A":
		c.binary = false
	case "I":
		c.binary = true
	default:
		c.reply(504, "there are types A and I")
		return
	}
	c.reply(200, "type is %s", strings.ToUpper(arg))
}

func (c *session) cmdPwd(string) { c.reply(257, "%q", c.dir) }

func (c *session) cmdCwd(arg string) {
	if !c.srv.files.isFolder(c.path(arg)) {
		c.reply(550, "%v", errFile)
		return
	}
	c.dir = path.Clean("/" + path.Join(c.dir, arg))
	if path.IsAbs(arg) {
		c.dir = path.Clean(arg)
	}
	c.reply(250, "you are in %s", c.dir)
}

func (c *session) cmdCdup(string) { c.cmdCwd("..") }

func (c *session) cmdMkd(arg string) {
	c.answer(c.srv.files.mkdir(c.path(arg)), 257, "made")
}

func (c *session) cmdRmd(arg string) {
	c.answer(c.srv.files.remove(c.path(arg), true), 250, "removed")
}

func (c *session) cmdDele(arg string) {
	err := c.srv.files.remove(c.path(arg), false)
	if err == nil {
		c.srv.stats.remove()
	}
	c.answer(err, 250, "removed")
}

func (c *session) cmdRnfr(arg string) {
	c.from = c.path(arg)
	c.reply(350, "and the new name?")
}

func (c *session) cmdRnto(arg string) {
	from := c.from
	c.from = ""
	if from == "" {
		c.reply(503, "first say which file")
		return
	}
	c.answer(c.srv.files.rename(from, c.path(arg)), 250, "renamed")
}

func (c *session) cmdSize(arg string) {
	data, err := c.srv.files.read(c.path(arg))
	c.answer(err, 213, fmt.Sprint(len(data)))
}
