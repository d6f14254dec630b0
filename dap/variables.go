package dap

import (
	"context"
	"fmt"

	"dbg/session"

	godap "github.com/google/go-dap"
)

// maxVariables limits one answer; a client can request further pages.
const maxVariables = 10_000

// variables lists the contents of a scope or a value.
func (s *server) variables(_ context.Context, args godap.VariablesArguments) (any, error) {
	thing, err := s.refs.find(args.VariablesReference)
	if err != nil {
		return nil, err
	}
	if args.Start < 0 || args.Count < 0 {
		return nil, badArguments("the number of variables is negative")
	}
	body := godap.VariablesResponseBody{Variables: []godap.Variable{}}
	var list []godap.Variable
	switch c := thing.(type) {
	case scopeRef:
		if args.Filter == "indexed" {
			return body, nil
		}
		if c.kind == session.ScopeRegisters {
			list, err = s.registers(c.frame)
		} else {
			var parts []part
			if parts, err = s.scopeParts(c); err == nil {
				list, err = s.variablesOf(args.VariablesReference, c.frame, page(parts, args.Start, args.Count), args.Format)
				s.explain(c.frame, parts, list)
			}
			args.Start, args.Count = 0, 0
		}
		list = page(list, args.Start, args.Count)
	case valueRef:
		if (args.Filter == "indexed" && !c.indexed && c.items == 0) || (args.Filter == "named" && c.indexed) {
			return body, nil
		}
		start, count := args.Start, args.Count
		if count == 0 || count > maxVariables {
			count = maxVariables
		}
		switch {
		case c.items == 0:
		case args.Filter == "indexed":
			if count = min(count, c.items-start); count <= 0 {
				return body, nil
			}
		case args.Filter == "named":
			start += c.items
		}
		var parts []part
		if parts, err = s.partsOf(c, start, count); err == nil {
			list, err = s.variablesOf(args.VariablesReference, c.frame, parts, args.Format)
		}
	default:
		return nil, badArguments("the reference %d does not denote variables", args.VariablesReference)
	}
	if err != nil {
		return nil, err
	}
	if list != nil {
		body.Variables = list
	}
	return body, nil
}

// page returns count elements from start on; a count of 0 means all.
func page[T any](list []T, start, count int) []T {
	start = min(start, len(list))
	if count == 0 || count > len(list)-start {
		count = len(list) - start
	}
	return list[start : start+count]
}

// registers lists the registers of a frame. The value of a register that no inner frame has saved
// is unknown, which differs from 0.
func (s *server) registers(k frameKey) ([]godap.Variable, error) {
	list, err := s.query.Registers(k.thread, k.level)
	if err != nil {
		return nil, err
	}
	out := make([]godap.Variable, len(list))
	for i, r := range list {
		out[i] = godap.Variable{Name: r.Name, Value: "<not saved>", EvaluateName: "$" + r.Name}
		if r.Known {
			out[i].Value = fmt.Sprintf("0x%x", r.Value)
			if s.client.memory {
				out[i].MemoryReference = out[i].Value
			}
		}
	}
	return out, nil
}
