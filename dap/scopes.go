package dap

import (
	"context"

	"dbg/session"

	godap "github.com/google/go-dap"
)

// scopes lists the non-empty groups of variables of a frame. Arguments and locals are one group: an
// editor opens only the first group, which would be empty in many main functions. Registers are
// marked as expensive, so that a client shows them only on request.
func (s *server) scopes(_ context.Context, args godap.ScopesArguments) (any, error) {
	k, err := s.refs.findFrame(args.FrameId)
	if err != nil {
		return nil, err
	}
	if _, err := s.query.Frame(k.thread, k.level); err != nil {
		return nil, err
	}
	body := godap.ScopesResponseBody{Scopes: []godap.Scope{}}
	add := func(name, hint string, kind session.ScopeKind, expensive bool) {
		body.Scopes = append(body.Scopes, godap.Scope{Name: name, PresentationHint: hint, VariablesReference: s.refs.scope(scopeRef{k, kind}), Expensive: expensive})
	}
	if parts, err := s.scopeParts(scopeRef{k, session.ScopeVariables}); err != nil {
		return nil, err
	} else if len(parts) > 0 {
		add("Locals", "locals", session.ScopeVariables, false)
	}
	if list, err := s.query.Registers(k.thread, k.level); err == nil && len(list) > 0 {
		add("Registers", "registers", session.ScopeRegisters, true)
	}
	return body, nil
}
