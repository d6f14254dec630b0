// Package start decides whether a program can be launched or a process can be attached to, and
// brings a new program to its first instruction. Errors are one sentence for the user, and
// wrap one of the sentinels of this package (errors.go).
//
// Its caller is target/ptrace. The checks (check.go, attachable.go) may run on any goroutine.
// Launch (launch.go) runs on the tracer's thread, which becomes the tracer of the program.
//
// # How a program is launched
//
// The child asks to be traced (PTRACE_TRACEME) and executes the program, which stops it. Launch
// then detaches it stopped and seizes it (PTRACE_SEIZE), since a traced process can't be converted.
package start
