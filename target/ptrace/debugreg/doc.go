// Package debugreg holds the watches of a process in the processor's debug registers. It answers
// how watches are encoded, which ones are set, and which ones fired in a thread: Intel SDM volume
// 3, 17.2. DR0 to DR3 have addresses, DR7 enables them, DR6 tells which ones fired. The kernel
// keeps a set for each thread (PTRACE_POKEUSER, struct user.u_debugreg). A new thread has none.
//
// A Table is the set that threads of one process shall have. It does not know which threads have
// it: target/ptrace compares Version for each thread, and writes the Table before the thread runs.
// Debug registers obey the rule of breakpoint bytes: they are set only while the process runs.
//
// Its callers are target/ptrace, and target/ptrace/guardian for ClearAll. A Table belongs to the
// tracer's goroutine.
package debugreg
