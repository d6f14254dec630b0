// Package registers holds the registers of stopped threads. It answers what a thread's general
// registers are, and when a change of them reaches the kernel.
//
// A Set (set.go) belongs to one thread. It reads the registers when they are first asked for, and
// writes changes back before the thread runs (Flush). A Cache (cache.go) keeps decoded registers
// of a process during a stop, so that a second read does not need the tracer.
//
// Its caller is target/ptrace. A Set is used on the tracer's thread only, since it makes ptrace
// requests. A Cache may be used on any goroutine. Nothing in a Set allocates.
package registers
