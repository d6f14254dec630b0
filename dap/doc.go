// Package dap is the Debug Adapter Protocol face of dbg: an editor talks to it
// over standard input and output or a socket (listen.go: loopback or a Unix one, the same user, nothing that looks like HTTP), and it translates to a
// session.Session and back. It decides nothing by itself.
//
// What it gives: Serve for one connection, ListenAndServe for a socket. What it
// needs: a stream, and what a session is made from (Options).
//
// The protocol is that of https://microsoft.github.io/debug-adapter-protocol/,
// version 1.70. Names of requests, events and fields are its own; the structures
// are those of github.com/google/go-dap, except where a zero means something that they
// leave out.
//
// One connection is four goroutines: the reader (inbox.go) cuts the stream into
// messages (framing.go) and notices cancellations; the server (server.go) handles
// one request or one event of the session at a time, so that a response always
// comes before the events that its request caused; the writer (outbox.go) is the only
// one that writes; the session has its own. Only pause, terminate, disconnect and cancel
// may be handled beside a request that takes long (overtake.go). Each request has a file of its own
// name; dispatch.go lists them with what they need (a program, a stopped one).
//
// The order of a session: initialize; launch or attach, which loads the program,
// answers, and then sends initialized; breakpoints; configurationDone, which
// lets the program go. configurationDone and breakpoints may come before
// launch: they are remembered.
//
// What ends a connection: disconnect, the end of the stream, a message that has no
// length or one that is too long (then the next message can't be found), the
// context. The program that was launched ends with it; one that was attached to
// runs on. A message that is not JSON, is unknown or comes at the wrong time gets
// an error response, and the server lives on.
//
// Not there: reverse execution, data breakpoints, running one thread alone, runInTerminal.
package dap
