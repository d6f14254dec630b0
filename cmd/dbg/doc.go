// Command dbg is a native debugger for Linux: a terminal front end, a Debug
// Adapter Protocol server, and backtraces of processes and core files.
//
// There is no logic here: flags are read, a session is made and given to a face
// (repl or dap). main.go has the exit status and the end by a signal; flags.go
// what the subcommands share; each subcommand has its own file.
//
// Exit status: 0 done; 1 the debugger could not do what was asked, and one line
// on standard error says what and why; 2 wrong usage.
package main
