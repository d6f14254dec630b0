package dap

import (
	"context"
	"fmt"
	"strings"

	"dbg/session"
	"dbg/target"

	godap "github.com/google/go-dap"
)

// exceptionInfo returns the exception or the signal that stopped a thread.
func (s *server) exceptionInfo(_ context.Context, args godap.ExceptionInfoArguments) (any, error) {
	thread := target.ThreadID(args.ThreadId)
	if st := s.lastStop; st != nil && st.Thread == thread && isException(st.Caught) {
		c := st.Caught
		description, text := caughtWords(c)
		id := c.Type
		if id == "" {
			id = description
		}
		details := &godap.ExceptionDetails{TypeName: c.Type, FullTypeName: c.Type}
		if c.HasMessage {
			details.Message = strings.ToValidUTF8(c.Message, "\uFFFD")
		}
		return godap.ExceptionInfoResponseBody{ExceptionId: id, Description: text, BreakMode: "always", Details: details}, nil
	}
	var sig *target.SignalInfo
	if st := s.lastStop; st != nil && st.Thread == thread {
		sig = st.Signal
	}
	if sig == nil {
		list, err := s.query.Threads()
		if err != nil {
			return nil, err
		}
		known := false
		for _, t := range list {
			if t.ID == thread {
				known, sig = true, t.Signal
			}
		}
		if !known {
			return nil, badArguments("there is no thread %d", args.ThreadId)
		}
	}
	if sig == nil {
		return nil, &requestError{id: codeOrder, text: "the thread did not stop with a signal", quiet: true}
	}
	description, text := signalWords(sig)
	if sig.Exception != "" {
		return godap.ExceptionInfoResponseBody{ExceptionId: sig.Exception, Description: description, BreakMode: "always",
			Details: &godap.ExceptionDetails{Message: text, TypeName: sig.Exception}}, nil
	}
	return godap.ExceptionInfoResponseBody{
		ExceptionId: target.SignalName(sig.Number), Description: description, BreakMode: "always",
		Details: &godap.ExceptionDetails{Message: text, TypeName: target.SignalName(sig.Number)},
	}, nil
}

// signalWords describes a signal: briefly, and with its cause.
func signalWords(sig *target.SignalInfo) (description, text string) {
	if sig.Exception != "" {
		return sig.Exception, sig.Exception
	}
	name, words := target.SignalName(sig.Number), target.SignalDescription(sig.Number)
	description = fmt.Sprintf("%s: %s", name, words)
	text = description
	switch {
	case sig.HasAddr:
		text = fmt.Sprintf("%s (%s, address %s)", description, target.SignalCodeName(sig.Number, sig.Code), sig.Addr)
	case sig.HasSender:
		text = fmt.Sprintf("%s (sent by process %d)", description, sig.SenderPID)
	}
	return description, text
}

// isException reports whether a stop is for an exception, a panic, an assertion or an abort.
func isException(c *session.Caught) bool { return c != nil && c.Kind <= session.CatchAssert }

// caughtWords describes what a catchpoint has caught: briefly, and with the type and the message.
func caughtWords(c *session.Caught) (description, text string) {
	words := map[session.CatchKind]string{
		session.CatchThrow: "exception thrown", session.CatchCatch: "exception caught", session.CatchRethrow: "exception rethrown",
		session.CatchPanic: "panic", session.CatchAbort: "call to abort", session.CatchAssert: "failed assertion",
	}
	if c == nil {
		return "Paused on an event", ""
	}
	description = words[c.Kind]
	if description == "" {
		description = "Paused on an event"
	}
	text = description
	switch {
	case c.Type != "":
		text = c.Type
	case c.Kind <= session.CatchRethrow:
		text = "exception of an unknown type"
	}
	if c.HasMessage {
		text += ": " + strings.ToValidUTF8(c.Message, "\uFFFD")
	} else if c.Silent {
		text += ", with an unknown message"
	}
	if c.File != "" && c.Line > 0 {
		text += fmt.Sprintf(" (%s:%d)", c.File, c.Line)
	}
	return description, text
}
