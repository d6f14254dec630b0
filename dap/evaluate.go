package dap

import (
	"context"
	"strings"

	"dbg/eval"
	"dbg/session"
	"dbg/target"

	godap "github.com/google/go-dap"
)

// evaluate evaluates an expression in a frame, or in frame 0 of the selected thread. An expression
// that an editor evaluates by itself, because the mouse is over it, must not change the program.
func (s *server) evaluate(_ context.Context, args godap.EvaluateArguments) (any, error) {
	frame, err := s.frameOf(args.FrameId)
	if err != nil {
		return nil, err
	}
	text := strings.TrimSpace(args.Expression)
	if text == "" {
		return nil, badArguments("the expression is empty")
	}
	changes := session.HasSideEffects(text)
	if changes && args.Context == "hover" {
		return nil, &requestError{id: codeArguments, text: "the expression would change the program", quiet: true}
	}
	if changes && s.kind.get() == target.Core {
		return nil, &requestError{id: codeCore, text: "a core file can't be changed"}
	}
	from := s.query
	if args.Context != "repl" { // the user has not asked for it just now: no function is to be called
		from = from.WithoutCalls()
	} else if strings.Contains(text, "(") {
		changes = true // it may be a call
	}
	v, err := from.Evaluate(frame.thread, frame.level, text)
	if err != nil {
		re := *asRequestError(err)
		re.quiet = re.quiet || args.Context == "hover" || args.Context == "watch"
		return nil, &re
	}
	opt := viewOptions(args.Format)
	switch args.Context {
	case "clipboard":
		opt = valueOptions(args.Format) // the whole value
	case "repl":
		s.query.KeepValue(v) // as $1, $2, ...
		if changes && s.client.invalidated {
			s.then(func() {
				s.event("invalidated", godap.InvalidatedEventBody{Areas: []godap.InvalidatedAreas{"variables"}})
			})
		}
	}
	path := text
	if changes {
		path = ""
	}
	now, err := s.showOne(s.evaluated(), frame, v, path, opt)
	if err != nil {
		return nil, err
	}
	if args.Context == "hover" && v.Avail != eval.Available {
		why := s.query.WhyMissing(frame.thread, frame.level, []string{text})
		if why[text] != "" {
			now.text += ": " + why[text]
		}
	}
	return godap.EvaluateResponseBody{
		Result: now.text, Type: now.typ, MemoryReference: now.memory,
		VariablesReference: now.reference, NamedVariables: now.named, IndexedVariables: now.indexed,
	}, nil
}

// frameOf returns the frame with an id, or the selected thread's frame 0 if there is no id.
func (s *server) frameOf(id int) (frameKey, error) {
	if id != 0 {
		return s.refs.findFrame(id)
	}
	thread, _ := s.query.Selected()
	return frameKey{thread: thread}, nil
}

// evaluated returns a new key for a result.
func (s *server) evaluated() childKey { return childKey{index: s.refs.next} }
