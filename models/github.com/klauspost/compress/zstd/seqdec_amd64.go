//go:build bfmodel

// Assembly that decodes sequences: it reads tables, literals and history, moves
// the bit reader and the states on and writes sequences or output. It reads and
// writes what it is handed and what that leads to, and keeps nothing; that tables
// and input are only read is not said here. buildDtable_asm fills the decoder's
// table from its counts, all of which the context points to.
package zstd

func bfDeepRead(x any)
func bfDeepWrite(x any)
func bfMaybe() bool

func bfx_code() int {
	if bfMaybe() {
		return 0
	}
	return 1
}

//bf:inline
func bf_buildDtable_asm(s *fseDecoder, ctx *buildDtableAsmContext) int {
	bfDeepRead(s)
	bfDeepWrite(s)
	bfDeepRead(ctx)
	bfDeepWrite(ctx)
	return bfx_code()
}

//bf:inline
func bf_sequenceDecs_decode_amd64(s *sequenceDecs, br *bitReader, ctx *decodeAsmContext) int {
	bfDeepRead(s)
	bfDeepWrite(s)
	bfDeepRead(br)
	bfDeepWrite(br)
	bfDeepRead(ctx)
	bfDeepWrite(ctx)
	return bfx_code()
}

//bf:inline
func bf_sequenceDecs_decode_56_amd64(s *sequenceDecs, br *bitReader, ctx *decodeAsmContext) int {
	bfDeepRead(s)
	bfDeepWrite(s)
	bfDeepRead(br)
	bfDeepWrite(br)
	bfDeepRead(ctx)
	bfDeepWrite(ctx)
	return bfx_code()
}

//bf:inline
func bf_sequenceDecs_decode_bmi2(s *sequenceDecs, br *bitReader, ctx *decodeAsmContext) int {
	bfDeepRead(s)
	bfDeepWrite(s)
	bfDeepRead(br)
	bfDeepWrite(br)
	bfDeepRead(ctx)
	bfDeepWrite(ctx)
	return bfx_code()
}

//bf:inline
func bf_sequenceDecs_decode_56_bmi2(s *sequenceDecs, br *bitReader, ctx *decodeAsmContext) int {
	bfDeepRead(s)
	bfDeepWrite(s)
	bfDeepRead(br)
	bfDeepWrite(br)
	bfDeepRead(ctx)
	bfDeepWrite(ctx)
	return bfx_code()
}

//bf:inline
func bf_sequenceDecs_decodeSync_amd64(s *sequenceDecs, br *bitReader, ctx *decodeSyncAsmContext) int {
	bfDeepRead(s)
	bfDeepWrite(s)
	bfDeepRead(br)
	bfDeepWrite(br)
	bfDeepRead(ctx)
	bfDeepWrite(ctx)
	return bfx_code()
}

//bf:inline
func bf_sequenceDecs_decodeSync_bmi2(s *sequenceDecs, br *bitReader, ctx *decodeSyncAsmContext) int {
	bfDeepRead(s)
	bfDeepWrite(s)
	bfDeepRead(br)
	bfDeepWrite(br)
	bfDeepRead(ctx)
	bfDeepWrite(ctx)
	return bfx_code()
}

//bf:inline
func bf_sequenceDecs_decodeSync_safe_amd64(s *sequenceDecs, br *bitReader, ctx *decodeSyncAsmContext) int {
	bfDeepRead(s)
	bfDeepWrite(s)
	bfDeepRead(br)
	bfDeepWrite(br)
	bfDeepRead(ctx)
	bfDeepWrite(ctx)
	return bfx_code()
}

//bf:inline
func bf_sequenceDecs_decodeSync_safe_bmi2(s *sequenceDecs, br *bitReader, ctx *decodeSyncAsmContext) int {
	bfDeepRead(s)
	bfDeepWrite(s)
	bfDeepRead(br)
	bfDeepWrite(br)
	bfDeepRead(ctx)
	bfDeepWrite(ctx)
	return bfx_code()
}

//bf:inline
func bf_sequenceDecs_executeSimple_amd64(ctx *executeAsmContext) bool {
	bfDeepRead(ctx)
	bfDeepWrite(ctx)
	return bfMaybe()
}

//bf:inline
func bf_sequenceDecs_executeSimple_safe_amd64(ctx *executeAsmContext) bool {
	bfDeepRead(ctx)
	bfDeepWrite(ctx)
	return bfMaybe()
}
