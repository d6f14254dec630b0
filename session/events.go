package session

import (
	"dbg/symbols"
	"dbg/target"
)

// Event is an event of the session. Subscribers receive events in order. The concrete types are
// below.
type Event interface{ isEvent() }

// Resumed reports that the program runs again.
type Resumed struct{ Thread target.ThreadID }

// Stopped reports that all threads are stopped. The session has selected Thread and its frame 0.
type Stopped struct{ Stop }

// Ended reports that the process has ended.
type Ended struct {
	PID      int
	Exited   bool // it exited with ExitCode
	ExitCode int
	Signal   *target.SignalInfo // or it was killed by this signal
	Detached bool               // or it was detached
}

// ThreadStarted reports a new thread of the program, or the first one.
type ThreadStarted struct{ Thread target.ThreadID }

// ThreadExited reports that a thread of the program has ended.
type ThreadExited struct{ Thread target.ThreadID }

// ModuleLoaded reports that a file was mapped or, with Unloaded, unmapped.
type ModuleLoaded struct {
	Module   *Module
	Unloaded bool
}

// BreakpointChanged reports that a breakpoint has gained or lost places, was hit, or was deleted
// because it was temporary.
type BreakpointChanged struct {
	Breakpoint Breakpoint
	Deleted    bool
}

// Output holds output of the program, if the session captures it.
type Output struct {
	Stderr bool
	Data   []byte
}

// LogMessage is the text of a log point or, with Warning, a warning of the session.
type LogMessage struct {
	Text    string
	Warning bool
	Plain   bool // the text has its own line ends: dprintf
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

// StopReason is the reason for a stop.
type StopReason uint8

const (
	StopEntry      StopReason = iota // started or attached
	StopBreakpoint                   // a breakpoint; see Breakpoints
	StopStep                         // a step is done
	StopFinish                       // a function returned
	StopSignal                       // a signal; see Signal
	StopPause                        // a client requested it
	StopExec                         // the process executed another program
	StopWatch                        // Watches
	StopWatchScope                   // EndedWatches
	StopCatch                        // a catchpoint; see Caught
	StopFork                         // the process has forked, and its child is followed
	StopTogether                     // another process of the group has stopped
)

// Stop describes a stop.
type Stop struct {
	Number      uint64 // 1, 2, ...: counts the session's stops; see Session.At
	Reason      StopReason
	Thread      target.ThreadID
	Breakpoints []int // ids, for StopBreakpoint
	// Deleted lists the temporary breakpoints among them, which were deleted.
	Deleted []int
	Signal  *target.SignalInfo
	// NewFunction means that the whole frame line should be shown: a step has ended in another
	// frame than it began in, or not at the start of a line; or the stop is not the end of a step.
	NewFunction bool
	// Returned is the function that a finish left, else nil.
	Returned *symbols.Function
	// ReturnValue is that function's value. HasReturnValue is false if it is unknown.
	ReturnValue    Value
	HasReturnValue bool
	// Watches has what the watchpoints saw, of StopWatch. EndedWatches has those that were deleted
	// because the program has left the frame of their variables.
	Watches, EndedWatches []WatchHit
	// Caught describes the event of StopCatch. Breakpoints has the catchpoints' ids.
	Caught *Caught

	call bool // a called function has returned whose evaluation was abandoned
}
