package session

import (
	"dbg/eval"
	"dbg/frames"
	"dbg/target"
)

// FrameView is a level of a backtrace with the variables that a face shows
// beside it.
type FrameView struct {
	*Frame
	Args   []Argument
	Locals []Argument // only if asked for
}

// ViewOptions says what EachFrameView reads of a frame.
type ViewOptions struct {
	Locals   bool
	Evidence bool // Machine.Tries: how each frame was found
	Format   eval.Options
}

// EachFrameView is EachFrame for faces that print: parameters, and locals if
// wanted, come with each frame, read while the walk is at it. So a backtrace of a
// million frames is shown in one walk and kept nowhere. Like EachFrame's, yield
// must not call the session; the view is valid until yield returns.
func (s *Session) EachFrameView(t target.ThreadID, start int, opt ViewOptions, yield func(*FrameView) bool) (*frames.End, error) {
	return s.eachFrame(t, start, opt.Evidence, func(f *Frame) bool {
		v := FrameView{Frame: f}
		if !f.Machine.Signal {
			v.Args = s.arguments(t, f, opt.Format)
			if opt.Locals {
				v.Locals = s.locals(t, f, opt.Format)
			}
		}
		return yield(&v)
	})
}

// ViewFrame is EachFrameView for one level.
func (s *Session) ViewFrame(t target.ThreadID, level int, opt ViewOptions) (FrameView, error) {
	var out FrameView
	_, err := s.EachFrameView(t, level, opt, func(v *FrameView) bool {
		f := *v.Frame
		out = FrameView{Frame: &f, Args: v.Args, Locals: v.Locals}
		return false
	})
	if err == nil && out.Frame == nil {
		err = ErrNoFrame
	}
	return out, err
}

// locals gives the variables of a frame that are not parameters, as text.
func (s *Session) locals(t target.ThreadID, f *Frame, opt eval.Options) []Argument {
	if s.needStopped() != nil {
		return nil
	}
	var out []Argument
	e := &env{s: s, thread: t, level: f.Level, frame: f, framed: true}
	for _, v := range s.frameVariables(f, t, ScopeLocals) {
		out = append(out, Argument{Name: v.Name, Value: eval.Format(v, e, opt), Type: eval.TypeName(v)})
	}
	return out
}
