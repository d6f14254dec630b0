// Package goroutine finds where a goroutine continues while its thread runs on another stack.
//
// Its question: a thread of a Go program is on the stack of its scheduler; which goroutine waits
// for it, and with which PC and SP will that continue?
//
// A thread in Go runs on its scheduler's stack for a goroutine whose own stack waits: for the
// runtime (mcall, morestack, systemstack) and for C (asmcgocall). When it leaves the goroutine's
// stack, it stores in g.sched where the goroutine will continue.
//
// The structures are those of Go's runtime/runtime2.go since Go 1.5, and need no debug information.
// The data is checked for consistency: g.m refers to the thread's descriptor, whose g0 refers back
// to it and owns the stack that contains the frame.
//
// Only package frames calls it, in its strategy gosched. It has no state, so several goroutines may
// call it.
package goroutine
