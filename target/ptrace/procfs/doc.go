// Package procfs reads what /proc tells about a process: its threads, states, mappings, auxiliary
// vector and the system calls in which its threads wait: proc(5). It implements the parts of
// target.Process that need nothing else.
//
// Its callers are target/ptrace, and the packages below that. Nothing here is a ptrace request, and
// nothing is kept between calls, so any goroutine may call everything. The process may run, and it
// may end at any time: then there is no answer.
package procfs
