//go:build bfmodel

// Assembly over fixed operands: it reads its inputs and writes its outputs, all
// of each, and keeps nothing. Which is which is taken from the generic Go code
// beside it.
package poly1305

//bf:inline
func bf_update(state *macState, msg []byte) {
	for _, c := range msg {
		state.h[0] += uint64(c) + state.r[0]
	}
	state.h[1], state.h[2] = state.h[0], state.r[1]
}
