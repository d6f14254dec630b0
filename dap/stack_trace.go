package dap

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"dbg/eval"
	"dbg/session"
	"dbg/target"

	godap "github.com/google/go-dap"
)

const (
	// maxFrames limits one answer.
	maxFrames = 100_000
	// countFrames limits a walk that only counts the frames of a stack.
	countFrames = 2000
)

// stackTrace lists frames. The total is exact if that costs little. Otherwise it is one more than
// the frames that were seen, which tells the client to continue asking.
func (s *server) stackTrace(ctx context.Context, args godap.StackTraceArguments) (any, error) {
	if args.StartFrame < 0 || args.Levels < 0 {
		return nil, badArguments("the number of frames is negative")
	}
	want := args.Levels
	if want == 0 || want > maxFrames {
		want = maxFrames
	}
	thread := target.ThreadID(args.ThreadId)
	var list []session.Frame
	seen := args.StartFrame
	end, err := s.query.EachFrame(thread, args.StartFrame, func(f *session.Frame) bool {
		seen++
		if len(list) < want {
			c := *f
			list = append(list, c)
		}
		return ctx.Err() == nil && (len(list) < want || seen < countFrames)
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	if end == nil {
		seen++
	}
	body := godap.StackTraceResponseBody{StackFrames: make([]godap.StackFrame, len(list)), TotalFrames: seen}
	if len(list) == 0 && end != nil && args.StartFrame > 0 {
		body.TotalFrames = s.depth(thread, args.StartFrame)
	}
	for i := range list {
		body.StackFrames[i] = s.stackFrame(thread, &list[i], args.Format)
	}
	return body, nil
}

// depth counts the frames of a stack, up to limit.
func (s *server) depth(thread target.ThreadID, limit int) int {
	n := 0
	s.query.EachFrame(thread, 0, func(*session.Frame) bool { n++; return n < limit })
	return n
}

// stackFrame converts a frame for the client.
func (s *server) stackFrame(thread target.ThreadID, f *session.Frame, format *godap.StackFrameFormat) godap.StackFrame {
	out := godap.StackFrame{
		Id:                          s.refs.frame(frameKey{thread, f.Level}),
		Name:                        f.FunctionName,
		InstructionPointerReference: memoryReference(f.PC),
	}
	if f.Module != nil {
		out.ModuleId = f.Module.ID
	}
	switch {
	case f.Machine.Signal:
		out.Name, out.PresentationHint = "<signal handler called>", "label"
		return out
	case f.HasSource():
		out.Source = s.sourceOf(f.Position.File)
		out.Line, out.Column = s.client.line(f.Position.Line), s.client.column(f.Position.Column)
	default:
		// An editor first shows a frame with source.
		out.PresentationHint = "subtle"
	}
	if out.Name == "" {
		out.Name = f.PC.String()
	}
	if format != nil {
		out.Name += s.frameDetails(thread, f, format)
	}
	return out
}

// frameDetails returns the text that a client wants after the function's name.
func (s *server) frameDetails(thread target.ThreadID, f *session.Frame, format *godap.StackFrameFormat) string {
	var b strings.Builder
	if format.Parameters || format.ParameterNames || format.ParameterTypes || format.ParameterValues {
		opt := valueOptions(&format.ValueFormat)
		opt.Compact = true
		var list []string
		for _, a := range s.query.Arguments(thread, f, opt) {
			list = append(list, parameterText(a, format))
		}
		fmt.Fprintf(&b, "(%s)", strings.Join(list, ", "))
	}
	if format.Line && f.HasSource() {
		fmt.Fprintf(&b, " at %s:%d", filepath.Base(f.Position.File), s.client.line(f.Position.Line))
	}
	if format.Module && f.Module != nil {
		fmt.Fprintf(&b, " from %s", filepath.Base(f.Module.Path))
	}
	return b.String()
}

// parameterText formats one parameter with the requested parts; if none is requested, with its name
// and value.
func parameterText(a session.Argument, format *godap.StackFrameFormat) string {
	if !format.ParameterNames && !format.ParameterTypes && !format.ParameterValues {
		return a.Name + "=" + a.Value
	}
	text := ""
	if format.ParameterTypes {
		text = a.Type
	}
	if format.ParameterNames {
		text = strings.TrimSpace(text + " " + a.Name)
	}
	if format.ParameterValues {
		if text != "" {
			text += "="
		}
		text += a.Value
	}
	return text
}

// valueOptions returns the client's format for values.
func valueOptions(format *godap.ValueFormat) eval.Options {
	opt := eval.DefaultOptions()
	opt.Objects = true // a person at a pointer wants to see the object
	if format != nil && format.Hex {
		opt.Format = 'x'
	}
	return opt
}
