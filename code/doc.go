// Package code decodes instructions, as far as they affect the stack.
//
// Its question: where does control go after an instruction, which registers does it change, and
// what does it do to the stack?
//
//   - Decode, and one function for each instruction set, make an [Insn]. An instruction that is not
//     known in detail destroys every register that it may write.
//   - Padding and PaddingAtEnd recognize the bytes between functions. FrameSetup and ReturnsOrIdles
//     recognize the beginnings of functions and of clean-up code.
//
// You bring the bytes. The package reads no files, knows no processes and follows no paths: package
// code/flow computes what the instructions of a function do together. Its other callers are
// frames/follow, frames/machine, compact, symbols (the end of a prologue), session (the exits of a
// line) and unwindcheck.
//
// It has no state, so several goroutines may call it.
package code
