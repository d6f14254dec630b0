package session

import (
	"dbg/symbols"
	"dbg/target"
)

// Event is something that happened in the session. Subscribers get them in
// order. The concrete types are below.
type Event interface{ isEvent() }

// Resumed says that the program runs again.
type Resumed struct{ Thread target.ThreadID }

// Stopped says that all threads are stopped. The session has selected Thread and its
// frame 0.
type Stopped struct{ Stop }

// Ended says that there is no process any more.
type Ended struct {
	PID      int
	Exited   bool // by itself, with ExitCode
	ExitCode int
	Signal   *target.SignalInfo // or by this signal
	Detached bool               // or it was let go
}

// ThreadStarted and ThreadExited follow the program's threads, the first one too.
type ThreadStarted struct{ Thread target.ThreadID }
type ThreadExited struct{ Thread target.ThreadID }

// ModuleLoaded says that a file was mapped (or, Unloaded, went away).
type ModuleLoaded struct {
	Module   *Module
	Unloaded bool
}

// BreakpointChanged says that a breakpoint got or lost places, was hit, or was
// deleted because it was temporary.
type BreakpointChanged struct {
	Breakpoint Breakpoint
	Deleted    bool
}

// Output is what the program wrote, where the session captures it.
type Output struct {
	Stderr bool
	Data   []byte
}

// LogMessage is the text of a log point, or a warning of the session's own
// (Warning).
type LogMessage struct {
	Text    string
	Warning bool
}

func (Resumed) isEvent()           {}
func (Stopped) isEvent()           {}
func (Ended) isEvent()             {}
func (ThreadStarted) isEvent()     {}
func (ThreadExited) isEvent()      {}
func (ModuleLoaded) isEvent()      {}
func (BreakpointChanged) isEvent() {}
func (Output) isEvent()            {}
func (LogMessage) isEvent()        {}

// StopReason says why the program stopped.
type StopReason uint8

const (
	StopEntry      StopReason = iota // started or attached
	StopBreakpoint                   // Breakpoints
	StopStep                         // a step is done
	StopFinish                       // a function returned
	StopSignal                       // Signal
	StopPause                        // somebody asked
	StopExec                         // the process became another program
)

// Stop describes a stop.
type Stop struct {
	Number      uint64 // 1, 2, ...: of the stops of the session; see Session.At
	Reason      StopReason
	Thread      target.ThreadID
	Breakpoints []int // ids, of StopBreakpoint
	// Deleted has the temporary breakpoints among them; they are gone.
	Deleted []int
	Signal  *target.SignalInfo
	// NewFunction says that the whole frame line is worth showing: a step has ended in another frame than it began in, or at another
	// place than a line's start; or the stop is not the end of a step.
	NewFunction bool
	// Returned is the function that a finish left; nil otherwise.
	Returned *symbols.Function
	// ReturnValue is its value, as "int" and such; HasReturnValue says if it is known.
	ReturnValue    Value
	HasReturnValue bool

	call bool // a called function has returned whose evaluation was given up
}
