// Package repl is the terminal front end: commands in gdb's words come in, text
// in gdb's shape goes out. It serves an interactive terminal, a script (-x,
// --ex, standard input) and dbg bt.
//
// The caller brings a session.Session that has its program, process or core,
// and calls Run, or WriteText and WriteJSON for backtraces alone. The package
// calls nothing but the session; it decides nothing, it translates.
//
// Where to look: shell.go is the loop, table.go finds a command by its name or
// abbreviation, cmd_*.go are the commands by group; wait.go follows the running
// program and stop.go prints its stops; frame_line.go, backtrace_text.go and
// backtrace_json.go print frames; input.go is the terminal: line editing,
// history, completion (complete.go).
//
// Commands run one after another on the caller's goroutine. A command that makes the program
// go returns when the program has stopped again, so that scripts need no waiting of
// their own. Ctrl-C stops the program, never dbg.
//
// What is not here: expressions, which are eval's; gdb's own scripting
// language; watchpoints.
package repl
