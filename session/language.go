package session

import (
	"dbg/symbols/lang"
	"dbg/target"
)

// SetLanguage sets the language of expressions. lang.Unknown means that of the selected frame's
// function.
func (s *Session) SetLanguage(l lang.Lang) { s.do(func() { s.language = l }) }

// Language returns the language of expressions in the selected frame, and whether it follows the frame.
func (s *Session) Language() (l lang.Lang, auto bool) {
	s.do(func() { l, auto = s.env(s.selected, s.level).Language(), s.language == lang.Unknown })
	return l, auto
}

// FrameLanguage returns the language of the selected frame's function.
func (s *Session) FrameLanguage() (l lang.Lang) {
	s.do(func() {
		if f := s.env(s.selected, s.level).at(); f != nil && f.Function != nil {
			l = f.Function.Lang
		}
	})
	return l
}

// SourceLine implements eval.Locator.
func (e *env) SourceLine(a target.Addr) (file string, line int, ok bool) {
	if name, off, ok := e.s.symbolize(a); !ok || name == "" || off > 1<<32 {
		return "", 0, false
	}
	lr, _, ok := e.s.position(a)
	return lr.File, lr.Line, ok && lr.File != ""
}
