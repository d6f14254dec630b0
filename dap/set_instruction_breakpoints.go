package dap

import (
	"context"

	godap "github.com/google/go-dap"
)

// setInstructionBreakpoints replaces the breakpoints at addresses.
func (s *server) setInstructionBreakpoints(_ context.Context, args godap.SetInstructionBreakpointsArguments) (any, error) {
	wishes := make([]wanted, len(args.Breakpoints))
	for i, b := range args.Breakpoints {
		var w wanted
		w.Spec.Condition, w.Spec.HitCondition = b.Condition, b.HitCondition
		w.Spec.Addr, w.err = parseMemoryReference(b.InstructionReference, b.Offset)
		w.Spec.HasAddr = true
		wishes[i] = w
	}
	return s.replace(group{kind: instructionGroup}, wishes), nil
}
