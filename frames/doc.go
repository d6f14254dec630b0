// Package frames is the hybrid unwinder. From a thread's registers it finds the frames of
// its stack, one after the other, and says of each how it was found and how far it can be
// trusted.
//
// [NewAddressSpace] reads what is mapped in a process or a core. [New] makes an [Unwinder]
// for that, [Unwinder.Walk] a walk from a set of registers, and [Walk.Frames] yields the
// frames, innermost first. [Walk.End] says why there are no more. A program that knows its
// modules itself implements [Space] instead of using an [AddressSpace].
//
// For each frame the strategies are tried in order of trust. The first that gives a
// plausible caller wins (find.go):
//
//	sigreturn  sigreturn.go  the frame is the kernel's signal trampoline
//	gosched    gosched.go    a goroutine whose stack waits, behind a switch of stacks in Go's runtime
//	jit        cfi.go        a table of code that the program made while it ran
//	cfi        cfi.go        the module's .debug_frame or .eh_frame
//	compact    tables.go     Apple's __unwind_info, refined by the code
//	plt        plt.go        a stub of the procedure linkage table
//	prologue   prologue.go   the function's instructions up to PC (start.go, forward.go, jumptable.go) or
//	                         from PC on (ahead.go), and a call to nowhere
//	fp         fp.go         the chain of frame pointers
//	scs        scs.go        a shadow call stack
//	scan       scan.go       a word on the stack that follows a call instruction
//
// Where the code contradicts a table and is certain, the code wins (overrule.go, audit.go,
// leave.go).
//
// judge.go alone decides what is plausible. The stack pointer moves up, except across signal
// frames and deliberate switches of the stack. The return address is in executable memory
// and, where only a heuristic speaks for it, follows a call instruction. Every walk ends: it
// goes up, or the list of stack switches catches it, or the depth limit does.
//
// Whether a frame's PC is a return address is decided here and stored in the frame:
// [Frame.LookupPC] is the address at which to look anything up.
//
// Inlined calls and tail calls share a machine frame and are not this package's business;
// nor are names. Nothing is ever written to the process.
//
// A walk reads the stack in large blocks (stack.go). The Unwinder remembers what it learned
// about a PC: its row, its module, the bytes around it (site.go). A frame that was met
// before costs no allocation.
//
// An Unwinder, its walks and an AddressSpace belong to one goroutine. A [Module] may be
// shared between goroutines.
package frames
