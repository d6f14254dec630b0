// Command dbg is a native debugger for Linux: a terminal front end, a Debug Adapter Protocol
// server, and backtraces of processes and core files.
//
// There is no logic here: it reads flags, makes a session and passes it to a front end (repl or
// dap). main.go holds the exit status and the end by a signal, flags.go the flags that subcommands
// share. Each subcommand has its own file.
//
// Exit status: 0 means done; 1 means that dbg could not do what was asked, and one line on standard
// error says what and why; 2 means wrong usage.
package main
