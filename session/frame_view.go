package session

import (
	"dbg/eval"
	"dbg/frames"
	"dbg/target"
)

// FrameView is a level of a backtrace with the variables that a front end shows with it.
type FrameView struct {
	*Frame
	Args   []Argument
	Locals []Argument // only if requested
}

// ViewOptions specifies what EachFrameView reads for a frame.
type ViewOptions struct {
	Locals   bool
	Evidence bool // fill Machine.Tries, which tells how each frame was found
	Format   eval.Options
}

// EachFrameView is EachFrame for front ends that print: each frame comes with its parameters and,
// if requested, its locals, read while the walk is at the frame. So a backtrace of a million frames
// is shown in one walk and not kept in memory. As for EachFrame, yield must not call the session.
// The view is valid until yield returns.
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

// locals formats the variables of a frame that are not parameters.
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
