package repl

import (
	"fmt"
	"io"
	"os"
)

// Command is one thing to do before the prompt: a command line, or a file of
// them.
type Command struct {
	Text string
	File string // if not ""
	// Say is printed before; Show prints the command behind a prompt. They are
	// for guided tours.
	Say  string
	Show bool
}

// Options says how a session is served.
type Options struct {
	// Commands are done first, in order.
	Commands []Command
	// Batch ends when Commands are done. Nothing that was not asked for is printed.
	Batch bool
	// JSON makes bt print the object of dbg bt --format json.
	JSON bool
	// Color allows colours.
	Color bool
	// In has the commands after Commands; nil is standard input.
	In *os.File
	// Out gets what was asked for, Err what went wrong; nil are dbg's own.
	Out, Err io.Writer
	// Terminal says that In is a terminal: lines are edited, questions asked.
	Terminal bool
	// History is where the lines are kept; "" is nowhere.
	History string
	// SourceRoots are folders that are left out where a source file is named.
	SourceRoots []string
	// Before is what is written before the prompt appears, after Commands; "" is nothing.
	Before string
}

// ExitError is how Run ends when the user gave quit a status, or when a command
// of a batch failed. It needs no further words.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return fmt.Sprintf("exit status %d", e.Code) }
