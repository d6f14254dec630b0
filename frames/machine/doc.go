// Package machine describes the code of each architecture, as far as the strategies of an unwinder
// need it.
//
// Its question: what do a few bytes of a machine's code show about calls, linkage stubs, the edges
// of functions and signal trampolines, and where are its frame records?
//
// Only package frames calls it, to judge return addresses and in its strategies plt, prologue, fp,
// scs and sigreturn. The files x86.go, arm64.go, arm.go and riscv.go mirror each other: each fills
// the fields of one [Machine] in the same order.
//
// You bring the bytes around an address. The package follows no paths and reads no code itself.
// Only [Machine.SignalFrame] reads the stack, through the caller.
//
// Machines are constants: all goroutines share them.
package machine
