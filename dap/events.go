package dap

import (
	"fmt"
	"path/filepath"
	"strings"

	"dbg/session"
	"dbg/target"

	godap "github.com/google/go-dap"
)

// stoppedBody is godap.StoppedEventBody, but always contains allThreadsStopped, on which clients
// rely.
type stoppedBody struct {
	Reason            string `json:"reason"`
	Description       string `json:"description,omitempty"`
	ThreadID          int    `json:"threadId"`
	Text              string `json:"text,omitempty"`
	AllThreadsStopped bool   `json:"allThreadsStopped"`
	HitBreakpointIDs  []int  `json:"hitBreakpointIds,omitempty"`
}

// onEvent translates an event of the session.
func (s *server) onEvent(ev session.Event) {
	switch ev := ev.(type) {
	case session.Resumed:
		s.resumed(ev)
	case session.Stopped:
		s.stopped(ev)
	case session.Ended:
		s.ended(ev)
	case session.ThreadStarted:
		s.threadEvent("started", ev.Thread)
	case session.ThreadExited:
		s.threadEvent("exited", ev.Thread)
	case session.ModuleLoaded:
		s.moduleLoaded(ev)
	case session.BreakpointChanged:
		s.breakpointChanged(ev)
	case session.Output:
		s.programOutput(ev)
	case session.LogMessage:
		category := "console"
		if ev.Warning {
			category = "important"
		}
		s.console(category, ev.Text+"\n")
	case session.Forked:
		if ev.Session == nil {
			s.console("console", fmt.Sprintf("The child process %d is not debugged.\n", ev.Child))
		}
	case session.Fetching:
		s.fetching(ev)
	case session.DebugInfoArrived:
		s.debugInfoArrived(ev)
	}
}

// resumed tells the client that the program runs, if the client does not know: the protocol has the
// event for resumptions that no request implied.
func (s *server) resumed(ev session.Resumed) {
	if s.ownResumes > 0 {
		s.ownResumes--
		if !s.staleStop {
			return
		}
	} else {
		s.refs.reset()
	}
	s.staleStop = false
	s.event("continued", godap.ContinuedEventBody{ThreadId: int(ev.Thread), AllThreadsContinued: true})
}

// stopped tells the client why the program has stopped.
func (s *server) stopped(ev session.Stopped) {
	if s.ownResumes > 0 {
		// The client resumed the program before it could learn of this stop. It is told about both.
		s.staleStop = true
	} else {
		st := ev.Stop
		s.lastStop = &st
	}
	body := stoppedBody{ThreadID: int(ev.Thread), AllThreadsStopped: true}
	switch ev.Reason {
	case session.StopEntry, session.StopExec:
		body.Reason, body.Description = "entry", "Paused on entry"
	case session.StopBreakpoint:
		body.Reason, body.Description, body.HitBreakpointIDs = s.breakpointReason(&ev.Stop)
	case session.StopCatch:
		body.Reason, body.HitBreakpointIDs = "breakpoint", ev.Breakpoints
		if isException(ev.Caught) {
			body.Reason = "exception"
		}
		body.Description, body.Text = caughtWords(ev.Caught)
	case session.StopWatch:
		body.Reason, body.Description, body.HitBreakpointIDs = "data breakpoint", "Paused on a data breakpoint", ev.Breakpoints
		body.Text = s.watchText(&ev.Stop)
	case session.StopWatchScope:
		body.Reason, body.Description = "data breakpoint", "The program has left the frame of a data breakpoint"
	case session.StopStep, session.StopFinish:
		body.Reason, body.Description = "step", "Paused after a step"
	case session.StopSignal:
		body.Reason = "exception"
		if ev.Signal != nil {
			body.Description, body.Text = signalWords(ev.Signal)
		}
	case session.StopPause:
		body.Reason, body.Description = "pause", "Paused"
		body.ThreadID = s.choosePaused(body.ThreadID)
	}
	s.query.ForgetEntry()
	s.event("stopped", body)
}

// breakpointReason describes a stop at breakpoints. The client does not know the breakpoint on main
// that represents the program's entry.
func (s *server) breakpointReason(st *session.Stop) (reason, description string, hit []int) {
	kinds := map[groupKind]bool{}
	for _, id := range st.Breakpoints {
		if b := s.breakpoints[id]; b != nil {
			hit = append(hit, id)
			kinds[b.group.kind] = true
		}
	}
	switch {
	case len(hit) == 0 && s.query.AtEntry(st):
		return "entry", "Paused on entry", nil
	case kinds[functionGroup] && len(kinds) == 1:
		return "function breakpoint", "Paused on a function breakpoint", hit
	case kinds[instructionGroup] && len(kinds) == 1:
		return "instruction breakpoint", "Paused on an instruction breakpoint", hit
	}
	return "breakpoint", "Paused on a breakpoint", hit
}

// choosePaused returns the thread to show after a pause: the one that the client asked to pause, if
// it exists.
func (s *server) choosePaused(thread int) int {
	want := target.ThreadID(s.pauseThread.Swap(0))
	if want == 0 || s.query.SelectThread(want) != nil {
		return thread
	}
	return int(want)
}

// ended tells the client that the process has ended.
func (s *server) ended(ev session.Ended) {
	if s.restarting > 0 {
		s.restarting--
		return
	}
	if s.phase.get() == phaseEnded {
		return
	}
	s.flushOutput()
	switch {
	case ev.Detached:
	case ev.Exited:
		s.event("exited", godap.ExitedEventBody{ExitCode: ev.ExitCode})
	default:
		code := 128
		if ev.Signal != nil {
			code += ev.Signal.Number
			s.console("console", fmt.Sprintf("Program terminated with signal %s, %s.\n", target.SignalName(ev.Signal.Number), target.SignalDescription(ev.Signal.Number)))
		}
		// This is the exit status in a shell of a command that a signal has killed: POSIX.1, 2.8.2.
		s.event("exited", godap.ExitedEventBody{ExitCode: code})
	}
	s.terminated()
}

// terminated tells the client, once, that there is nothing left to debug.
func (s *server) terminated() {
	if s.phase.get() == phaseEnded {
		return
	}
	s.phase.set(phaseEnded)
	s.refs.reset()
	s.event("terminated", nil)
}

func (s *server) threadEvent(reason string, thread target.ThreadID) {
	s.event("thread", godap.ThreadEventBody{Reason: reason, ThreadId: int(thread)})
}

// moduleLoaded tells the client that a file was mapped or unmapped.
func (s *server) moduleLoaded(ev session.ModuleLoaded) {
	body := godap.ModuleEventBody{Reason: "new", Module: godap.Module{Id: ev.Module.ID, Name: filepath.Base(ev.Module.Path)}}
	if ev.Unloaded {
		body.Reason = "removed"
	} else {
		for _, m := range s.query.DescribeModules() {
			if m.ID == ev.Module.ID {
				body.Module = moduleOf(m)
			}
		}
	}
	s.event("module", body)
}

// console sends a text from dbg itself.
func (s *server) console(category, text string) {
	s.event("output", godap.OutputEventBody{Category: category, Output: strings.ToValidUTF8(text, "\uFFFD")})
}
