//go:build bfverify

package runtime

// GORACE as the race detector of Go reads it, and BFRACE for what only this one has.
// Both are lists of name=value with spaces or colons between.

var bfOpts = struct {
	read     bool
	fd       int32
	exitcode int32
	halt     bool
	stats    bool
	all      bool  // reports on the same lines too
	sleep    int64 // nanoseconds
	strip    string
}{fd: 2, exitcode: 66, sleep: 1e9}

// bfReadOptions reads the options the first time they are needed. The caller holds
// bfReportLock.
func bfReadOptions() {
	if bfOpts.read {
		return
	}
	bfOpts.read = true
	bfEach(gogetenv("GORACE"), bfGorace)
	bfEach(gogetenv("BFRACE"), bfBfrace)
}

// bfEach calls set for each item of a list.
func bfEach(list string, set func(name, value string)) {
	for i := 0; i < len(list); {
		if list[i] == ' ' || list[i] == ':' || list[i] == '\t' {
			i++
			continue
		}
		j, eq := i, -1
		for ; j < len(list) && list[j] != ' ' && list[j] != ':' && list[j] != '\t'; j++ {
			if list[j] == '=' && eq < 0 {
				eq = j
			}
		}
		if eq < 0 {
			bfComplain(list[i:j], "has no value")
		} else {
			set(list[i:eq], list[eq+1:j])
		}
		i = j
	}
}

func bfGorace(name, value string) {
	switch name {
	case "log_path":
		bfOpenLog(value)
		return
	case "strip_path_prefix":
		bfOpts.strip = value
		return
	case "history_size":
		bfComplain(name, "is not needed: no access is forgotten")
		return
	}
	n, ok := bfNumber(value)
	if !ok {
		bfComplain(name, "is ignored: its value is neither a number nor yes or no")
		return
	}
	switch name {
	case "exitcode":
		bfOpts.exitcode = int32(n)
	case "halt_on_error":
		bfOpts.halt = n != 0
	case "atexit_sleep_ms":
		bfOpts.sleep = int64(n) * 1e6
	case "suppress_equal_stacks":
		bfOpts.all = n == 0
	case "suppress_equal_addresses": // reports are not suppressed for that
	default:
		bfComplain(name, "is not known")
	}
}

// bfNumber reads a number of up to 9 digits, or yes or no as 1 or 0.
func bfNumber(s string) (n int, ok bool) {
	switch s {
	case "no", "false":
		return 0, true
	case "yes", "true":
		return 1, true
	}
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' || i == 9 {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, s != ""
}

func bfBfrace(name, value string) {
	switch name {
	case "stats":
		bfOpts.stats = value != "0"
	default:
		bfComplain(name, "is not known")
	}
}

func bfComplain(name, why string) {
	bfPuts("bfverify: option ")
	bfPuts(name)
	bfPuts(" of GORACE or BFRACE ")
	bfPuts(why)
	bfPuts("\n")
	bfFlush()
}

// bfOpenLog opens the file path.PID; stdout and stderr are those.
func bfOpenLog(path string) {
	switch path {
	case "stdout":
		bfOpts.fd = 1
		return
	case "stderr":
		bfOpts.fd = 2
		return
	}
	var name [512]byte
	var pid [20]byte
	i := len(pid)
	for n := getpid(); n > 0; n /= 10 {
		i--
		pid[i] = byte('0' + n%10)
	}
	if len(path)+1+len(pid)-i >= len(name) {
		bfComplain("log_path", "is too long")
		return
	}
	k := copy(name[:], path)
	name[k] = '.'
	copy(name[k+1:], pid[i:])
	fd := open(&name[0], _O_WRONLY|_O_CREAT|_O_TRUNC, 0o644)
	if fd < 0 {
		bfComplain("log_path", "cannot be opened")
		return
	}
	bfOpts.fd = fd
}

// bfPutStats prints what the detector did.
func bfPutStats() {
	s := bfWorld.Stats()
	bfPutStat("operations on shadow", s.Checks)
	bfPutStat("shadow locations", s.Locations)
	bfPutStat("splits", s.Splits)
	bfPutStat("read vectors", s.Shared)
	bfPutStat("slots reused early", s.Uncovered)
	bfPutStat("goroutines without slot", s.Slotless)
	bfPutStat("accesses left out", s.Ignored)
	bfPutStat("stacks", uint64(bfStackCount))
}

func bfPutStat(name string, n uint64) {
	bfPuts("bfverify: ")
	bfPuts(name)
	bfPuts(": ")
	bfPutNum(n)
	bfPuts("\n")
}
