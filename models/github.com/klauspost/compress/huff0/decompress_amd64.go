//go:build bfmodel

// Assembly that decodes from one buffer to another. All that it needs is in the
// context: bit readers, a table, places in the input and the output. It reads
// and writes what the context leads to and the context itself, and keeps
// nothing. That the input and the table are only read is not said here.
package huff0

func bfDeepRead(x any)
func bfDeepWrite(x any)

//bf:inline
func bf_decompress4x_main_loop_amd64(ctx *decompress4xContext) {
	bfDeepRead(ctx)
	bfDeepWrite(ctx)
}

//bf:inline
func bf_decompress4x_8b_main_loop_amd64(ctx *decompress4xContext) {
	bfDeepRead(ctx)
	bfDeepWrite(ctx)
}

//bf:inline
func bf_decompress4x_4b_main_loop_amd64(ctx *decompress4xContext) {
	bfDeepRead(ctx)
	bfDeepWrite(ctx)
}

//bf:inline
func bf_decompress1x_main_loop_amd64(ctx *decompress1xContext) {
	bfDeepRead(ctx)
	bfDeepWrite(ctx)
}

//bf:inline
func bf_decompress1x_8b_main_loop_amd64(ctx *decompress1xContext) {
	bfDeepRead(ctx)
	bfDeepWrite(ctx)
}

//bf:inline
func bf_decompress1x_4b_main_loop_amd64(ctx *decompress1xContext) {
	bfDeepRead(ctx)
	bfDeepWrite(ctx)
}

//bf:inline
func bf_decompress4x_main_loop_bmi2(ctx *decompress4xContext) {
	bfDeepRead(ctx)
	bfDeepWrite(ctx)
}

//bf:inline
func bf_decompress4x_8b_main_loop_bmi2(ctx *decompress4xContext) {
	bfDeepRead(ctx)
	bfDeepWrite(ctx)
}

//bf:inline
func bf_decompress4x_4b_main_loop_bmi2(ctx *decompress4xContext) {
	bfDeepRead(ctx)
	bfDeepWrite(ctx)
}

//bf:inline
func bf_decompress1x_main_loop_bmi2(ctx *decompress1xContext) {
	bfDeepRead(ctx)
	bfDeepWrite(ctx)
}

//bf:inline
func bf_decompress1x_8b_main_loop_bmi2(ctx *decompress1xContext) {
	bfDeepRead(ctx)
	bfDeepWrite(ctx)
}

//bf:inline
func bf_decompress1x_4b_main_loop_bmi2(ctx *decompress1xContext) {
	bfDeepRead(ctx)
	bfDeepWrite(ctx)
}
