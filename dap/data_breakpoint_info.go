package dap

import (
	"context"
	"fmt"

	"dbg/eval"
	"dbg/session"

	godap "github.com/google/go-dap"
)

// watchable is the value of a dataId: what dataBreakpointInfo has offered to watch.
type watchable struct {
	name  string
	value session.Value
}

// maxDataIDs bounds the values that are remembered for setDataBreakpoints.
const maxDataIDs = 10_000

// dataBreakpointInfo reports whether a variable, or an expression, can be watched. The dataId
// stands for its memory: a data breakpoint stays there, whatever the name designates later.
func (s *server) dataBreakpointInfo(_ context.Context, args godap.DataBreakpointInfoArguments) (any, error) {
	var v session.Value
	if args.VariablesReference != 0 {
		thing, err := s.refs.find(args.VariablesReference)
		if err != nil {
			return nil, err
		}
		_, p, err := s.findPart(thing, args.Name)
		if err != nil {
			return nil, err
		}
		v = p.value
	} else {
		frame, err := s.frameOf(args.FrameId)
		if err != nil {
			return nil, err
		}
		if session.HasSideEffects(args.Name) {
			return noData("an expression that changes the program can't be watched"), nil
		}
		if v, err = s.query.Evaluate(frame.thread, frame.level, args.Name); err != nil {
			return noData(asRequestError(err).text), nil
		}
	}
	switch {
	case !v.HasAddr:
		return noData(args.Name + " is not in memory"), nil
	case s.query.State() == session.IsCore:
		return noData(errCore.text), nil
	case !eval.IsWatchable(v):
		return noData(args.Name + " is too large for the processor's debug registers"), nil
	}
	id := fmt.Sprintf("%s:%s", v.Addr, eval.TypeName(v))
	if s.watchables == nil || len(s.watchables) >= maxDataIDs {
		s.watchables = map[string]watchable{}
	}
	s.watchables[id] = watchable{args.Name, v}
	return godap.DataBreakpointInfoResponseBody{DataId: id, Description: args.Name,
		AccessTypes: []godap.DataBreakpointAccessType{"write", "readWrite", "read"}}, nil
}

// noData is the answer for what can't be watched.
func noData(why string) godap.DataBreakpointInfoResponseBody {
	return godap.DataBreakpointInfoResponseBody{DataId: nil, Description: why}
}
