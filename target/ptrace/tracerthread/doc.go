// Package tracerthread is the OS thread that makes all ptrace requests of a process. It answers how
// a thread can sleep in wait4(2) and still obey commands.
//
// The kernel accepts ptrace requests only from the thread that traces. So one goroutine is locked
// to a thread of its own, and other goroutines send it functions (Do). The thread sleeps in
// wait4(2), so that the kernel switches directly to it from a tracee that stops. A caller with a
// command rings a bell: it increments the count of waiting callers, and sends a SIGCHLD to the
// thread, which ends its sleep with EINTR. A signal that arrives after the thread has read the
// count and before it sleeps is lost. It is therefore sent again until the thread responds.
//
// The signal is SIGCHLD because this package changes its action anyway (sigchld.go): while a
// process is being traced, no SIGCHLD is sent for stops, which would wake a second thread for each,
// and no SIGCHLD restarts a system call.
//
// Its callers are target/ptrace, and target/ptrace/stepall for DozeUntil. The package knows no
// process. Do may be called on any goroutine. All other methods belong to the thread itself.
package tracerthread
