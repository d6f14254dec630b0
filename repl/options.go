package repl

import (
	"fmt"
	"io"
	"os"
)

// Command is one command line, or a file of them, to run before the prompt.
type Command struct {
	Text string
	File string // if not ""
	// Say is printed before the command. Show prints the command after a prompt. Both are for
	// guided tours.
	Say  string
	Show bool
}

// Options specifies how Run serves a session.
type Options struct {
	// Commands are run first, in order.
	Commands []Command
	// Batch ends Run after Commands. Nothing is printed that was not asked for.
	Batch bool
	// JSON makes bt print the object of dbg bt --format json.
	JSON bool
	// Color allows colours.
	Color bool
	// In is read after Commands; nil means standard input.
	In *os.File
	// Out receives results and Err receives errors; nil means standard output and standard error.
	Out, Err io.Writer
	// Terminal means that In is a terminal: lines are edited, and questions are asked.
	Terminal bool
	// History is the path of the command history; "" means none.
	History string
	// SourceRoots are directories that are left out of the names of source files.
	SourceRoots []string
	// Before is printed after Commands, before the first prompt; "" means nothing.
	Before string
}

// ExitError is the error of Run if the user gave quit a status, or if a command of a batch failed.
// Its text need not be printed.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return fmt.Sprintf("exit status %d", e.Code) }
