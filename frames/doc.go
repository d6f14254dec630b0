// Package frames is the hybrid unwinder: from a thread's registers it finds the
// frames of its stack, one after the other, and says of each how it was found and how
// far it can be trusted.
//
// What it gives you: New makes an Unwinder for an address space, Unwinder.Walk a walk
// from a set of registers, Walk.Frames the frames as an iterator, innermost
// first, and Walk.End why it ended.
//
// What you must bring: a Space, which reads memory and knows which modules are
// mapped where and what is executable.
//
// For each frame strategies are tried in a fixed order, and the first that gives a plausible
// caller wins (find.go):
//
//	sigreturn  sigreturn.go  the frame is the kernel's signal trampoline
//	cfi        cfi.go        the module's .debug_frame or .eh_frame
//	plt        plt.go        a stub of the procedure linkage table
//	prologue   prologue.go   the function's instructions, before PC (start.go) or after it (ahead.go); a call to nowhere
//	fp         fp.go         the chain of frame pointers
//	scan       scan.go       a word on the stack that follows a call instruction
//
// What plausible means is written once, in judge.go: the stack pointer moves up (but
// for signal frames and deliberate stack switches), the return address is in executable
// memory and, where only a heuristic speaks for it, follows a call
// instruction. A walk always ends: it goes up, or it is caught by the list of turns,
// or by the depth limit.
//
// Whether a frame's PC is a return address is decided here and kept in the frame:
// Frame.LookupPC is the address to look anything up by.
//
// What it does not do: inlined calls and tail calls (they share a machine frame; package
// symbols knows them), the process's state (nothing is ever written), names.
//
// How it stays fast: a walk reads the stack in large blocks (stack.go); what is known about
// a PC (its row, its module, the bytes around it) is kept by the Unwinder
// (site.go); a warm frame allocates nothing and its memory is constant. An Unwinder
// and its walks belong to one goroutine; a Module may be shared.
package frames
