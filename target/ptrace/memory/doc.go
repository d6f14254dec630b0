// Package memory is a process's memory with the debugger's bytes in it. It answers what the program
// itself has at an address, and it owns the bytes that stop threads: the int3 of each site
// (sites.go), and the moving int3 of target/ptrace/stepall (trap.go).
//
// Reads never show these bytes, and writes go below them. The bytes of sites are in memory only
// between Raise and Lower: while the process runs. A Journal learns of each byte before it is
// written, so that another process can remove it if this one is killed.
//
// Its callers are target/ptrace, target/ptrace/instruction (the instructions at sites, and space
// for copies), target/ptrace/stepall, and target/ptrace/guardian (Restore).
//
// # Which goroutine
//
// Read may be called on any goroutine. Everything else belongs to the tracer's goroutine. The lock
// is for Read only: it guards the table and the descriptor while the tracer changes them.
//
// # How it stays fast
//
// Sites are a sorted slice. Raise and Lower write each page once. Read and MoveTrap allocate
// nothing.
package memory
