package dap

import (
	"context"
	"fmt"

	"dbg/eval"
	"dbg/session"

	godap "github.com/google/go-dap"
)

// setDataBreakpoints replaces the watchpoints.
func (s *server) setDataBreakpoints(_ context.Context, args godap.SetDataBreakpointsArguments) (any, error) {
	wishes := make([]wanted, len(args.Breakpoints))
	for i, b := range args.Breakpoints {
		w := &wishes[i]
		what, ok := s.watchables[b.DataId]
		if !ok {
			w.err = badArguments("unknown data id %q", cut(b.DataId))
			continue
		}
		kind := session.WatchChange
		switch b.AccessType {
		case "read":
			kind = session.WatchRead
		case "readWrite":
			kind = session.WatchAccess
		}
		w.Spec.Watch = &session.WatchSpec{Expr: what.name, Value: &what.value, Kind: kind}
		w.Spec.Text = what.name
		w.Spec.Condition, w.Spec.HitCondition = b.Condition, b.HitCondition
	}
	return s.replace(group{kind: dataGroup}, wishes), nil
}

// watchText describes what the watchpoints saw.
func (s *server) watchText(st *session.Stop) string {
	if len(st.Watches) == 0 {
		return ""
	}
	h := &st.Watches[0]
	opt := eval.DefaultOptions()
	if h.Changed && h.Spec.Kind != session.WatchRead {
		return fmt.Sprintf("%s: %s -> %s", h.Spec.Expr, s.query.Format(h.Old, opt), s.query.Format(h.New, opt))
	}
	return fmt.Sprintf("%s: %s", h.Spec.Expr, s.query.Format(h.New, opt))
}
