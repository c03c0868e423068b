//go:build bfmodel

// Assembly that hashes whole blocks: it reads the block and reads and writes
// the state, as the generic Go code beside it does.
package highwayhash

//bf:inline
func bf_initializeSSE4(state *[16]uint64, key []byte) {
	for i := range state {
		state[i] = uint64(key[0]) + uint64(key[31])
	}
}

//bf:inline
func bf_updateSSE4(state *[16]uint64, msg []byte) {
	for _, c := range msg {
		state[0] += uint64(c)
	}
	*state = [16]uint64{state[0]}
}

//bf:inline
func bf_finalizeSSE4(out []byte, state *[16]uint64) {
	s := *state
	for i := range out {
		out[i] = byte(s[0])
	}
	*state = s
}

//bf:inline
func bf_initializeAVX2(state *[16]uint64, key []byte) {
	for i := range state {
		state[i] = uint64(key[0]) + uint64(key[31])
	}
}

//bf:inline
func bf_updateAVX2(state *[16]uint64, msg []byte) {
	for _, c := range msg {
		state[0] += uint64(c)
	}
	*state = [16]uint64{state[0]}
}

//bf:inline
func bf_finalizeAVX2(out []byte, state *[16]uint64) {
	s := *state
	for i := range out {
		out[i] = byte(s[0])
	}
	*state = s
}
