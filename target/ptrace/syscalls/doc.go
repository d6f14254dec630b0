// Package syscalls follows the system calls of a thread through their syscall-stops. It answers
// whether a stop at the entry or the exit of a call is the begin or the end of it for the program,
// or only an interruption by the debugger, after which the kernel executes the call again:
// signal(7), "Interruption of system calls".
//
// Its caller is target/ptrace, on the tracer's goroutine. The package makes no system calls.
package syscalls
