package facts

// SyncOp names a synchronisation operation.
type SyncOp uint8

// The operations of domain Y.
const (
	SyncAcquire SyncOp = iota
	SyncRelease
	SyncAdd  // wait group: N, or unknown
	SyncWait // wait group
	SyncSend
	SyncRecv // Ok is the register of the second result, if any
	SyncClose
	SyncOnce     // here some call with Call.Once = Obj has returned, for this object
	SyncParallel // testing.T.Parallel
)

// Sync is the relation sync(Y, op, V): an operation on the object that Obj
// points to.
type Sync struct {
	Op    SyncOp
	Obj   Reg
	Write bool // acquire, release: the exclusive mode
	Known bool // SyncAdd: N is a constant
	N     int64
	Val   Reg  // SyncAdd: the count; send: the value
	Dst   Reg  // receive: the result (a tuple when Comma)
	Comma bool // receive: Dst is (value, ok)
}

// Select is the relation select(Y, cases): exactly one case is taken, or none
// when it does not block. Dst is the tuple (index, ok, values...).
type Select struct {
	Dst      Reg
	Blocking bool
	Cases    []SelectCase
}

// SelectCase is one communication of a Select.
type SelectCase struct {
	Send bool
	Chan Reg
}
