// Package frames is the hybrid unwinder. From a thread's registers it finds the frames of its
// stack, one after the other. For each frame it reports how it was found and how far it can be
// trusted.
//
// [NewAddressSpace] reads the mappings of a process or a core. [New] makes an [Unwinder] for it,
// [Unwinder.Walk] a walk from a set of registers, and [Walk.Frames] yields the frames, innermost
// first. [Walk.End] reports why there are no more frames. A program that manages its modules itself
// implements [Space] instead of using an [AddressSpace].
//
// For each frame the strategies are tried in order of trust. The first one that yields a plausible
// caller wins (find.go):
//
//	sigreturn  sigreturn.go  the frame is the kernel's signal trampoline
//	gosched    gosched.go    a goroutine whose stack waits, after Go's runtime has switched stacks
//	dyninfo    module/dyninfo.go  what the program registered with libunwind for such code
//	jit        cfi.go        a table for code that the program generated at run time
//	cfi        cfi.go        the module's .debug_frame or .eh_frame
//	compact    cfi.go        Apple's __unwind_info, refined by the code
//	ehabi      ehabi.go      ARM's .ARM.exidx at calls; in prologues and epilogues the code decides
//	pdata      pdata.go      the function table of a Windows image
//	sframe     sframe.go     SFrame; the code has the registers that it leaves out
//	plt        plt.go        a stub of the procedure linkage table
//	prologue   prologue.go   the function's instructions up to PC (start.go) or from PC on (bycode.go),
//	                         and calls to invalid addresses
//	fp         fp.go         the chain of frame pointers
//	scs        scs.go        a shadow call stack
//	scan       scan.go       a word on the stack that follows a call instruction
//
// Where the code certainly contradicts a table, the code wins (overrule.go, leave.go).
//
// Only judge.go decides what is plausible. The stack pointer moves up, except across signal frames
// and deliberate switches of the stack. The return address is in executable memory. If only a
// heuristic supports it, it must follow a call instruction. Every walk ends: it moves up, or the
// list of stack switches detects a cycle, or it reaches the depth limit.
//
// Four packages below this one answer one question each: frames/module (the tables, sections and
// symbols of a file), frames/follow (the instructions of a function), frames/machine (what a few
// bytes of an architecture's code show) and frames/goroutine (where a goroutine continues). They
// know nothing of walks and strategies. module.go has names for those types of frames/module that
// users of this package need.
//
// Its callers are session, unwindcheck and unwindtable, and frames/remote, for memory that comes later.
//
// This package decides whether a frame's PC is a return address, and stores that in the frame:
// [Frame.LookupPC] is the address for all look-ups.
//
// Inlined calls and tail calls share a machine frame. They are not this package's task; nor are
// names. It never writes to the process.
//
// A walk reads the stack in large blocks (stack.go). The Unwinder caches its knowledge about a PC:
// its row, its module, the bytes around it (site.go). A frame that is in the cache costs no
// allocation.
//
// An Unwinder, its walks and an AddressSpace belong to one goroutine. A [Module] may be
// shared between goroutines.
package frames
