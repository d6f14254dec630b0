package dap

import (
	"context"
	"fmt"

	"dbg/session"

	godap "github.com/google/go-dap"
)

// setVariable assigns to a variable, a part of one, or a register.
func (s *server) setVariable(_ context.Context, args godap.SetVariableArguments) (any, error) {
	thing, err := s.refs.find(args.VariablesReference)
	if err != nil {
		return nil, err
	}
	if c, ok := thing.(scopeRef); ok && c.kind == session.ScopeRegisters {
		return s.setRegister(c.frame, args)
	}
	frame, p, err := s.findPart(thing, args.Name)
	if err != nil {
		return nil, err
	}
	v, err := s.query.Assign(frame.thread, frame.level, p.value, args.Value)
	if err != nil {
		return nil, err
	}
	now, err := s.showOne(childKey{args.VariablesReference, p.name, p.index}, frame, v, p.path, viewOptions(args.Format))
	if err != nil {
		return nil, err
	}
	return godap.SetVariableResponseBody{Value: now.text, Type: now.typ, VariablesReference: now.reference, NamedVariables: now.named, IndexedVariables: now.indexed}, nil
}

// setRegister assigns to a register of a frame.
func (s *server) setRegister(k frameKey, args godap.SetVariableArguments) (any, error) {
	list, err := s.query.Registers(k.thread, k.level)
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		if r.Name != args.Name {
			continue
		}
		if _, err := s.query.Evaluate(k.thread, k.level, fmt.Sprintf("$%s = (%s)", r.Name, args.Value)); err != nil {
			return nil, err
		}
		now, err := s.query.Registers(k.thread, k.level)
		if err != nil {
			return nil, err
		}
		for _, n := range now {
			if n.Name == r.Name && n.Known {
				return godap.SetVariableResponseBody{Value: fmt.Sprintf("0x%x", n.Value)}, nil
			}
		}
	}
	return nil, badArguments("there is no register %q", cut(args.Name))
}
