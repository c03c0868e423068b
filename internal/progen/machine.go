package progen

// A value is one cell of the interpreter's memory: four bits of tag and 28 of
// payload. The zero value is 0, false and nil of every type.
type value uint32

// Tags of values. All but scalars are renumbered by canon.
const (
	tagScalar  = iota // signed integer, boolean, nil
	tagRef            // pointer, slice, map or channel: object<<cellBits | cell
	tagClock          // release clock of a synchronisation object: bit in rec.known
	tagThread         // goroutine that holds a lock
	tagFunc           // function without environment
	tagClosure        // object: code number, then the environment
)

const (
	tagShift = 28
	payload  = 1<<tagShift - 1
	cellBits = 10
	maxCells = 1 << cellBits
)

func scalar(n int) value               { return value(uint32(n) & payload) }
func tagged(tag, n int) value          { return value(uint32(tag)<<tagShift | uint32(n)) }
func ref(obj, cell int) value          { return tagged(tagRef, obj<<cellBits|cell) }
func (v value) tag() int               { return int(v >> tagShift) }
func (v value) num() int               { return int(v & payload) }
func (v value) int() int               { return int(int32(v<<4) >> 4) }
func (v value) place() (obj, cell int) { n := v.num(); return n >> cellBits, n & (maxCells - 1) }

func boolean(b bool) value {
	if b {
		return 1
	}
	return 0
}

// Cells of the objects with a fixed layout, counted from their first.
const (
	mutexHolder, mutexClock                                  = 0, 1
	rwWriter, rwReaders, rwClock, rwReadClock                = 0, 1, 2, 3
	wgCount, wgClock                                         = 0, 1
	onceState, onceClock                                     = 0, 1
	atomicValue, atomicClock                                 = 0, 1
	chanCap, chanLen, chanClosed, chanClock, chanSlots       = 0, 1, 2, 3, 4 // then values, then clocks
	sliceRef, sliceLen, sliceCap                             = 0, 1, 2
	mapEntries                                               = 1 // after the header; key, value, ...
	unlocked, deadHolder                               value = 0, 1
)

// An opcode names an instruction. The comment shows the stack before and after,
// the top on the right.
type opcode uint8

const (
	opConst     opcode = iota // -> a
	opFunc                    // -> function a
	opSlot                    // -> slot a
	opSetSlot                 // v ->          slot a = v
	opClear                   // ->            slot a = 0
	opGlobal                  // -> &global a
	opNew                     // -> &object of a cells
	opBox                     // v -> &object holding v
	opField                   // p -> p+a      panics if p is nil
	opIndex                   // base i -> p   element of a cells; array of b elements, or slice if b < 0
	opLoad                    // p -> v        access acc
	opStore                   // p v ->        access acc; flags b
	opCopy                    // p q ->        *p = *q, a cells; access acc reads, b writes
	opZero                    // p ->          a cells; access acc
	opDup                     // v -> v v
	opPop                     // v ->
	opBin                     // x y -> x a y
	opNot                     // x -> !x
	opJump                    // pc = a
	opJumpFalse               // x ->          if !x, pc = a
	opMaybe                   // -> either
	opClosure                 // v... -> f     code a with b bound values
	opCall                    // f v... -> r   a arguments; f is code b-1 unless b is 0
	opGo                      // f v... ->     likewise
	opDefer                   // f v... ->     likewise
	opRet                     // r? ->         a results
	opPanic                   // ->
	opRecover                 // -> recovered?
	opMakeChan                // cap -> c
	opMakeSlice               // len -> s      elements of a cells
	opMakeMap                 // -> m
	opSlice                   // s lo hi -> s  hi < 0 is the length; elements of a cells
	opAppend                  // s v -> s      access acc writes, b reads
	opLen                     // s -> n
	opMapGet                  // m k -> v ok?  access acc; ok if a != 0
	opMapSet                  // m k v ->      access acc; stores 0 if b != 0
	opMapDelete               // m k ->        access acc
	opMapLen                  // m -> n        access acc
	opLock                    // p ->          this and what follows are synchronisation
	opUnlock                  // p ->
	opTryLock                 // p -> ok
	opRWLock                  // p ->
	opRWUnlock                // p ->
	opRWTryLock               // p -> ok
	opRLock                   // p ->
	opRUnlock                 // p ->
	opTryRLock                // p -> ok
	opWgAdd                   // p n ->
	opWgWait                  // p ->
	opOnceEnter               // p -> run
	opOnceExit                // p ->
	opAtLoad                  // p -> v
	opAtStore                 // p v ->
	opAtAdd                   // p v -> sum
	opAtSwap                  // p v -> old
	opAtCas                   // p old new -> ok
	opSend                    // c v ->
	opRecv                    // c -> v ok?    ok if a != 0
	opClose                   // c ->
	opSelect                  // operands of selects[a] -> v ok?
	opRange                   // range over a channel: c -> c v true, or false when it ends
)

// Flags of opStore.
const (
	storeZero   = 1 << iota // store 0: nobody looks at the value
	storeUnsync             // the cell has a clock, which the store makes obsolete
)

// visible reports whether other goroutines may tell when the instruction runs.
func (op opcode) visible() bool { return op >= opLock }

type instr struct {
	op   opcode
	a, b int32
	acc  int32
}

// A code is a compiled function. Its slots hold the bound values, the
// arguments and the local variables; the operand stack grows above them.
type code struct {
	name  string
	ins   []instr
	slots int // with bound values and arguments
	bound int
	args  int
	res   int
}

// A selectCase is one alternative of a select statement. Its operands lie at
// index at, counted from the lowest operand of the statement.
type selectCase struct {
	send   bool
	at     int
	ok     bool // push ok as well
	target int32
	acc    int32
}

type selectTable struct {
	cases    []selectCase
	operands int
	dflt     int32 // target of default, or -1
}

// A machine is a compiled program.
type machine struct {
	codes   []*code
	main    int
	init    int
	globals []int // cells of each
	selects []selectTable
	accs    []Access
	tracked []bool   // by access: the value may decide what runs
	class   []string // by access: accesses of two classes never meet; "" meets all
	escaped []int    // codes that a call without known callee may run
	future  [][]set  // by code and pc: accesses that may run from there on
	partner []set    // by access: accesses that may conflict with it
	copies  bool     // a plain access may touch a synchronisation object
}
