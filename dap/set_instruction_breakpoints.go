package dap

import (
	"context"

	"dbg/session"

	godap "github.com/google/go-dap"
)

// setInstructionBreakpoints makes the list the breakpoints at addresses.
func (s *server) setInstructionBreakpoints(_ context.Context, args godap.SetInstructionBreakpointsArguments) (any, error) {
	wishes := make([]wanted, len(args.Breakpoints))
	for i, b := range args.Breakpoints {
		w := wanted{spec: session.BreakpointSpec{Condition: b.Condition, HitCondition: b.HitCondition}}
		w.spec.Addr, w.err = parseMemoryReference(b.InstructionReference, b.Offset)
		w.spec.HasAddr = true
		wishes[i] = w
	}
	return s.replace(group{kind: instructionGroup}, wishes), nil
}
