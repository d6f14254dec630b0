package dap

import (
	"context"

	"dbg/session"

	godap "github.com/google/go-dap"
)

// scopes lists the groups of variables of a frame. Registers are said to be
// expensive, so that a client does not show them until it is asked to.
func (s *server) scopes(_ context.Context, args godap.ScopesArguments) (any, error) {
	k, err := s.refs.findFrame(args.FrameId)
	if err != nil {
		return nil, err
	}
	if _, err := s.sess.Frame(k.thread, k.level); err != nil {
		return nil, err
	}
	scope := func(name, hint string, kind session.ScopeKind, expensive bool) godap.Scope {
		return godap.Scope{Name: name, PresentationHint: hint, VariablesReference: s.refs.scope(scopeRef{k, kind}), Expensive: expensive}
	}
	return godap.ScopesResponseBody{Scopes: []godap.Scope{
		scope("Arguments", "arguments", session.ScopeArguments, false),
		scope("Locals", "locals", session.ScopeLocals, false),
		scope("Registers", "registers", session.ScopeRegisters, true),
	}}, nil
}
