package follow

import (
	"dbg/code"
	"dbg/code/flow"
)

// tailLength is the maximum number of instructions that Tail reads.
const tailLength = 24

// Tail follows the last instructions of a function from pc, an address in the process, with the
// state at before them. It returns the offset of the stack pointer from the CFA before the return
// instruction. ok is false if not a single path without calls leads to one, or if the offset is
// unknown.
func Tail(r Reader, pc uint64, at flow.State) (sp int32, ok bool) {
	text := r.Read(pc, make([]byte, 0, aheadBytes)[:aheadBytes])
	for range tailLength {
		in := code.Decode(r.Arch, text)
		if in.Next == code.Return {
			break
		}
		if in.Next != code.Onward || in.Len == 0 || omitted(text) {
			return 0, false
		}
		at.Apply(&in)
		text = text[in.Len:]
	}
	var f flow.Frame
	at.Frame(&f)
	return f.SP, code.Decode(r.Arch, text).Next == code.Return && f.HasSP
}
