package dap

import (
	"context"
	"fmt"

	"dbg/target"

	godap "github.com/google/go-dap"
)

// exceptionInfo returns the signal that stopped a thread.
func (s *server) exceptionInfo(_ context.Context, args godap.ExceptionInfoArguments) (any, error) {
	thread := target.ThreadID(args.ThreadId)
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
	return godap.ExceptionInfoResponseBody{
		ExceptionId: target.SignalName(sig.Number), Description: description, BreakMode: "always",
		Details: &godap.ExceptionDetails{Message: text, TypeName: target.SignalName(sig.Number)},
	}, nil
}

// signalWords describes a signal: briefly, and with its cause.
func signalWords(sig *target.SignalInfo) (description, text string) {
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
