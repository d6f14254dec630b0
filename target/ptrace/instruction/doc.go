// Package instruction knows how a thread gets past one instruction. It answers what a single step
// must treat specially about an instruction (class.go), and how the instruction at a site is
// executed while our byte is in its place: an Emulator executes it for the thread (emulator.go), or
// the thread executes a copy of it elsewhere (scratch.go).
//
// Decoding for emulation, and rewriting for another address, are in code/emulate. This package adds
// the process: its memory with the program's rights, its watches, and a place for copies. It makes
// no ptrace request: the caller reads and writes the thread's registers and resumes it.
//
// Its caller is target/ptrace. An Emulator and a Scratch belong to the tracer's goroutine.
//
// # How it stays fast
//
// An Emulator reuses its state, and a site keeps its decoded instruction: a hit allocates nothing.
package instruction
