package dap

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"dbg/session"
)

// need is the condition for handling a request.
type need uint8

const (
	needNothing need = iota
	needInitialized
	needTarget  // a program or a core
	needStopped // a target that can be examined
	needProcess // a stopped, live process
)

// handler is the entry of a request in the table.
type handler struct {
	need need
	run  func(s *server, ctx context.Context, arguments json.RawMessage) (body any, err error)
}

// on makes the entry of a request whose arguments have the type A.
func on[A any](n need, f func(s *server, ctx context.Context, args A) (any, error)) handler {
	return handler{n, func(s *server, ctx context.Context, raw json.RawMessage) (any, error) {
		var args A
		if raw = bytes.TrimSpace(raw); len(raw) > 0 && !bytes.Equal(raw, []byte("null")) {
			if err := json.Unmarshal(raw, &args); err != nil {
				return nil, badArguments("wrong arguments: %v", err)
			}
		}
		return f(s, ctx, args)
	}}
}

// handlers lists all supported requests. Every other request is answered with an error.
func handlers() map[string]handler {
	return map[string]handler{
		"initialize":                on(needNothing, (*server).initialize),
		"launch":                    on(needInitialized, (*server).launch),
		"attach":                    on(needInitialized, (*server).attach),
		"restart":                   on(needTarget, (*server).restart),
		"configurationDone":         on(needInitialized, (*server).configurationDone),
		"disconnect":                on(needNothing, (*server).disconnect),
		"terminate":                 on(needTarget, (*server).terminate),
		"cancel":                    on(needInitialized, (*server).cancel),
		"setBreakpoints":            on(needInitialized, (*server).setBreakpoints),
		"setFunctionBreakpoints":    on(needInitialized, (*server).setFunctionBreakpoints),
		"dataBreakpointInfo":        on(needStopped, (*server).dataBreakpointInfo),
		"setDataBreakpoints":        on(needInitialized, (*server).setDataBreakpoints),
		"setInstructionBreakpoints": on(needInitialized, (*server).setInstructionBreakpoints),
		"setExceptionBreakpoints":   on(needInitialized, (*server).setExceptionBreakpoints),
		"breakpointLocations":       on(needTarget, (*server).breakpointLocations),
		"threads":                   on(needTarget, (*server).threads),
		"stackTrace":                on(needStopped, (*server).stackTrace),
		"scopes":                    on(needStopped, (*server).scopes),
		"variables":                 on(needStopped, (*server).variables),
		"setVariable":               on(needProcess, (*server).setVariable),
		"setExpression":             on(needProcess, (*server).setExpression),
		"evaluate":                  on(needStopped, (*server).evaluate),
		"completions":               on(needStopped, (*server).completions),
		"exceptionInfo":             on(needStopped, (*server).exceptionInfo),
		"continue":                  on(needProcess, (*server).cont),
		"next":                      on(needProcess, (*server).next),
		"stepIn":                    on(needProcess, (*server).stepIn),
		"stepOut":                   on(needProcess, (*server).stepOut),
		"pause":                     on(needTarget, (*server).pause),
		"source":                    on(needInitialized, (*server).source),
		"loadedSources":             on(needTarget, (*server).loadedSources),
		"modules":                   on(needTarget, (*server).modules),
		"readMemory":                on(needStopped, (*server).readMemory),
		"writeMemory":               on(needProcess, (*server).writeMemory),
		"disassemble":               on(needStopped, (*server).disassemble),
	}
}

// handle answers one message.
func (s *server) handle(ctx context.Context, req *request) {
	ctx = s.in.begin(ctx, req)
	defer s.in.finish()
	s.query = s.sess.Under(ctx)
	defer func() { s.query = s.sess }()
	body, err := s.dispatch(ctx, req)
	after := s.after
	s.after = nil
	s.answer(req, body, err)
	for _, f := range after {
		f()
	}
}

// answer sends the response to a request.
func (s *server) answer(req *request, body any, err error) {
	if err != nil {
		s.refuse(req, err)
	} else if req.Type == "request" {
		s.out.send(&response{RequestSeq: req.Seq, Command: req.Command, Success: true, Body: body})
	}
}

// dispatch finds and runs the handler.
func (s *server) dispatch(ctx context.Context, req *request) (any, error) {
	if req.wrong != nil {
		return nil, &requestError{id: codeMalformed, text: fmt.Sprintf("malformed message: %v", req.wrong)}
	}
	switch req.Type {
	case "request":
	case "response", "event":
		return nil, nil // it needs no answer
	default:
		return nil, &requestError{id: codeMalformed, text: fmt.Sprintf("unknown message type %q", cut(req.Type))}
	}
	h, ok := s.handlers[req.Command]
	switch {
	case !ok && s.phase.get() == phaseNew:
		return nil, errNotInitialized
	case !ok:
		return nil, &requestError{id: codeUnsupported, text: fmt.Sprintf("unsupported request %q", cut(req.Command))}
	}
	if err := s.ready(h.need); err != nil {
		return nil, err
	}
	if ctx.Err() != nil && req.Command != "disconnect" {
		return nil, errCancelled
	}
	return h.run(s, ctx, req.Arguments)
}

// ready returns an error if a request's condition is not met.
func (s *server) ready(n need) error {
	if n == needNothing {
		return nil
	}
	if s.phase.get() == phaseNew {
		return errNotInitialized
	}
	if n == needInitialized {
		return nil
	}
	if s.phase.get() < phaseLoaded || (s.phase.get() == phaseEnded && n > needTarget) {
		return errNoProcess
	}
	if n == needTarget {
		return nil
	}
	switch s.sess.State() {
	case session.IsRunning:
		return errRunning
	case session.IsStopped:
		return nil
	case session.IsCore:
		if n == needProcess {
			return errCore
		}
		return nil
	}
	return errNoProcess
}
