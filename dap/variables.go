package dap

import (
	"context"
	"fmt"

	"dbg/session"

	godap "github.com/google/go-dap"
)

// maxVariables bounds one answer: a client that wants more pages.
const maxVariables = 10_000

// variables lists what a scope or a value has.
func (s *server) variables(_ context.Context, args godap.VariablesArguments) (any, error) {
	thing, err := s.refs.find(args.VariablesReference)
	if err != nil {
		return nil, err
	}
	if args.Start < 0 || args.Count < 0 {
		return nil, badArguments("a negative number of variables")
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
			}
			args.Start, args.Count = 0, 0
		}
		list = page(list, args.Start, args.Count)
	case valueRef:
		if (args.Filter == "indexed" && !c.indexed) || (args.Filter == "named" && c.indexed) {
			return body, nil
		}
		count := args.Count
		if count == 0 || count > maxVariables {
			count = maxVariables
		}
		var parts []part
		if parts, err = s.partsOf(c, args.Start, count); err == nil {
			list, err = s.variablesOf(args.VariablesReference, c.frame, parts, args.Format)
		}
	default:
		return nil, badArguments("%d is not the reference of variables", args.VariablesReference)
	}
	if err != nil {
		return nil, err
	}
	if list != nil {
		body.Variables = list
	}
	return body, nil
}

// page is count elements from start on; count 0 is all.
func page[T any](list []T, start, count int) []T {
	start = min(start, len(list))
	if count == 0 || count > len(list)-start {
		count = len(list) - start
	}
	return list[start : start+count]
}

// registers lists the registers of a frame. One that no inner frame has saved is not known,
// which is not the same as 0.
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
