package dap

import (
	"context"

	godap "github.com/google/go-dap"
)

// setExpression assigns to the object that an expression denotes.
func (s *server) setExpression(_ context.Context, args godap.SetExpressionArguments) (any, error) {
	frame, err := s.frameOf(args.FrameId)
	if err != nil {
		return nil, err
	}
	left, err := s.query.Evaluate(frame.thread, frame.level, args.Expression)
	if err != nil {
		return nil, err
	}
	v, err := s.query.Assign(frame.thread, frame.level, left, args.Value)
	if err != nil {
		return nil, err
	}
	now, err := s.showOne(s.evaluated(), frame, v, args.Expression, viewOptions(args.Format))
	if err != nil {
		return nil, err
	}
	return godap.SetExpressionResponseBody{Value: now.text, Type: now.typ, VariablesReference: now.reference, NamedVariables: now.named, IndexedVariables: now.indexed}, nil
}
