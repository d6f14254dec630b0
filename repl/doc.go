// Package repl is the terminal front end. It reads commands in gdb's syntax and prints text in
// gdb's format. It serves an interactive terminal, a script (-x, --ex, standard input) and dbg bt.
//
// The caller provides a session.Session with its program, process or core, and calls Run, or
// WriteText and WriteJSON for backtraces alone. The package only calls the session. It decides
// nothing, it translates.
//
// Where to look: shell.go holds the loop, table.go finds a command by its name or abbreviation,
// cmd_*.go hold the commands by group. wait.go follows the running program and stop.go prints its
// stops. frame_line.go, backtrace_text.go and backtrace_json.go print frames. input.go is the
// terminal: line editing, history, completion (complete.go).
//
// Commands run one after another on the caller's goroutine. A command that resumes the program
// returns when the program has stopped again, so scripts need not wait. Ctrl-C stops the program,
// never dbg.
//
// It does not evaluate expressions (package eval does), and does not support gdb's scripting
// language or watchpoints.
package repl
