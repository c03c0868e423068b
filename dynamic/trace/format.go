package trace

// The file format, version 1.
//
//	file   = "bftrace" version frame* end
//	frame  = length payload sum        length > 0
//	end    = 0 count sum
//
// version is one byte, length and count are uvarints, count is the number of events
// in the file. sum is the CRC-32C, 4 bytes little endian, of the sum before it (0 at
// the start) and the payload, or the bytes of count: so frames can be neither
// changed, dropped nor exchanged. A frame holds whole events, at most MaxFrame bytes.
//
//	event  = head [g] [site] fields
//
// head is one byte: the kind, plus 0x80 if g is that of the event before, plus 0x40
// if the kind has a site and it is 0. g and site are uvarints. fields follow in the
// order of the table in codec.go, each a uvarint, except that addresses are zigzag
// varints: the difference to the last address of the goroutine (of 64 goroutines, by
// id modulo 64). A list of parts is its length and, for each, addr size count and,
// if count is not 1, stride. A text is its length and its bytes. Each varint has its
// shortest form, so a list of events has one encoding up to frames.
const (
	magic    = "bftrace"
	Version  = 1
	MaxFrame = 1 << 20

	headSameG  = 0x80
	headNoSite = 0x40
	headKind   = 0x3f

	frameTarget = 32 << 10 // a frame is closed when it is longer
)

// What the fields of each kind are: a addr, s size, c count, t stride, o other, p
// parts, x text, @ site. Site comes first if there is one.
var fields = [NumKinds]string{
	Read: "@as", Write: "@as", AtomicRead: "@as", AtomicWrite: "@as",
	ReadRange: "@asct", WriteRange: "@asct", CheckRead: "@p", CheckWrite: "@p",
	Acquire: "a", Release: "a", ReleaseMerge: "a", ReleaseAcquire: "a",
	Fork: "@o", End: "c", Join: "o", Malloc: "@as", Free: "as", Array: "asc",
	Commit: "", Name: "@x", Proxy: "@ast",
}
