// Package guardian protects an attached program from the death of the debugger. It answers who
// removes our bytes from the program's memory, and clears its debug registers, if dbg is killed
// while the program runs.
//
// The guardian is a process: the same binary, started under another name. It sleeps until dbg ends,
// and then restores the original bytes of the sites. dbg writes the table of sites into memory that
// both share.
//
// The guardian is woken by a robust futex that a thread of dbg holds (set_robust_list(2)). When a
// thread ends, the kernel handles the futex first: before it frees memory, closes files and
// releases the tracees. The holding thread does nothing else. It and the guardian have real-time
// priority where that is permitted. So the code is restored a tenth of a millisecond after the
// kill, even on a busy machine. Where robust futexes are not available, the guardian is woken by a
// pipe whose other end only dbg has open.
//
// A launched program needs no guardian: it ends with dbg (PTRACE_O_EXITKILL).
//
// A Guard (guard.go) is dbg's side. Its caller is target/ptrace, on the tracer's goroutine, and
// target/ptrace/memory through memory.Journal. Main (main.go) is the guardian's side. It is called
// first in the main functions of programs that attach: cmd/dbg, and the tests. The layout of the
// shared table is in table.go.
package guardian
