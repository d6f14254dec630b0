// Package session is one debug session: a program, a running process or a core,
// its breakpoints, its threads, the selected thread and frame, and what
// happened to it. It is the only API that the faces (terminal, editor, script)
// call; what one of them can do, all of them can do, and several may use one
// session at once.
//
// A Session is made with New, and gets its program by Load (and Run or Start),
// Attach or OpenCore. It is changed by one goroutine of its own (loop.go):
// every method hands it a function and waits, so that methods may be called
// from any goroutine. Methods that make the program go return at once when it
// goes; what happens then comes as events to those who Subscribe.
//
// The objects, from the largest to the smallest: Session, Module (a mapped
// file), Breakpoint (what the user asked for) with its places (addresses),
// Thread, Frame (machine frames and the inlined calls in them), eval.Value.
//
// Where to look: stops.go decides what a stop of the process means; step*.go are
// the plans of steps; modules.go follows what is mapped; breakpoints.go
// keeps logical breakpoints and resolve.go finds their places; env.go is
// the world of a user's expression.
//
// The package never parses files and never calls ptrace: that is symbols/,
// frames/ and target/.
package session
