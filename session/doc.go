// Package session implements one debug session: a program, a running process or a core, its
// breakpoints and threads, the selected thread and frame, and its events. It is the only API that
// the front ends (terminal, editor, script) call. So all of them have the same abilities, and
// several may use one session at once.
//
// A Session is made with New, and gets its program with Load (and Run or Start), Attach or
// OpenCore. Methods may be called from any goroutine: each runs in the lane (loop.go), which one
// goroutine at a time holds. Methods that resume the program return as soon as it runs. Later
// events are sent to subscribers, see Subscribe.
//
// The objects, from the largest to the smallest: Session, Module (a mapped file), Breakpoint (the
// user's request) with its places (addresses), Thread, Frame (machine frames and the inlined calls
// in them), eval.Value.
//
// Where to look: stops.go decides the meaning of a stop of the process. step*.go are the plans for
// steps. modules.go follows the mapped files. breakpoints.go holds logical breakpoints and
// resolve.go finds their places. env.go is the environment of a user's expression.
//
// The package never parses files and never calls ptrace: the packages symbols, frames and target
// do.
package session
