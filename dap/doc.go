// Package dap is the Debug Adapter Protocol front end of dbg. An editor talks to it over standard
// input and output or a socket (listen.go: loopback or a Unix socket, only the same user or root,
// no HTTP requests). The package translates between the protocol and a session.Session. It makes no
// decisions itself.
//
// It provides Serve for one connection and ListenAndServe for a socket. It needs a stream, and the
// configuration of a session (Options).
//
// The protocol is https://microsoft.github.io/debug-adapter-protocol/, version 1.70. Requests,
// events and fields have the protocol's names. The structures are those of
// github.com/google/go-dap, except where a zero has a meaning that those leave out.
//
// One connection has four goroutines. The reader (inbox.go) splits the stream into messages
// (framing.go) and handles cancellations. The server (server.go) handles one request or one event
// of the session at a time, so a response always comes before the events that its request caused.
// The writer (outbox.go) is the only goroutine that writes. The session has its own goroutine. Only
// pause, terminate, disconnect and cancel may be handled while a long request runs (overtake.go).
// Each request has a file with its name. dispatch.go lists the requests with their conditions (a
// program, a stopped program).
//
// The order of a session: initialize; launch or attach, which loads the program, answers, and then
// sends initialized; breakpoints; configurationDone, which lets the program run. configurationDone
// and breakpoints may come before launch: they are stored.
//
// A connection ends with disconnect, with the end of the stream, with a message that has no length
// or is too long (the next message can't be found then), or when the context is done. A launched
// program ends with the connection; an attached one continues. A message that is not JSON, is
// unknown or comes at the wrong time gets an error response, and the connection continues.
//
// Not supported: reverse execution, data breakpoints, running only one thread, runInTerminal.
package dap
