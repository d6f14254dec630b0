package session

import (
	"fmt"

	"dbg/eval"
	"dbg/target"
)

var (
	_ eval.FunctionNamer = (*env)(nil)
	_ eval.SettingReader = (*env)(nil)
)

// FunctionAt implements eval.FunctionNamer.
func (e *env) FunctionAt(levels int) (string, bool) {
	if levels < 0 || e.s.needStopped() != nil {
		return "", false
	}
	f, err := e.s.frame(e.thread, e.level+levels)
	if err != nil {
		return "", false
	}
	if f.Function == nil {
		return "", true
	}
	return f.Function.Name, true
}

// Setting implements eval.SettingReader.
func (e *env) Setting(name string) (string, bool) {
	if e.s.settings == nil {
		return "", false
	}
	return e.s.settings(name)
}

// SetSettings gives the session the function that tells the settings of its face, for $_gdb_setting. It
// must be called before the session is used.
func (s *Session) SetSettings(f func(name string) (text string, ok bool)) { s.settings = f }

// xsaveArea returns the registers of the selected thread that no call preserves, or nil for other frames
// than the innermost one.
func (e *env) xsaveArea(f *Frame) []byte {
	r, ok := e.s.tgt.(target.StateReader)
	if !ok || f.Machine.Index != 0 || f.outside {
		return nil
	}
	st, err := r.ThreadState(e.thread)
	if err != nil {
		return nil
	}
	if len(st.XState) > 0 {
		return st.XState
	}
	return st.FP
}

// examined sets $_ to the last address that x has shown, with its type, and $__ to the value there.
func (e *env) examined(a, next target.Addr, format, unit byte, lines int) {
	if lines == 0 || next <= a {
		return
	}
	size := map[byte]target.Addr{'b': 1, 'h': 2, 'w': 4, 'g': 8}[unit]
	word := map[byte]string{'b': "char", 'h': "short", 'w': "int", 'g': "long"}[unit]
	switch {
	case format == 's' || size == 0:
		return
	case format == 'f' && unit == 'w':
		word = "float"
	case format == 'f' && unit == 'g':
		word = "double"
	}
	at := a
	if next-a >= size {
		at = next - size
	}
	e.setLast(fmt.Sprintf("(%s *) 0x%x", word, uint64(at)))
}

// setLast sets $_ to a pointer and $__ to its target.
func (e *env) setLast(pointer string) {
	for name, text := range map[string]string{"_": pointer, "__": "*(" + pointer + ")"} {
		if v, err := eval.Evaluate(text, e); err == nil {
			e.SetConvenience(name, v)
		}
	}
}

// NoteAddress sets $_ to an address that a command has shown: "info line", "info breakpoints".
func (s *Session) NoteAddress(a target.Addr) {
	s.do(func() {
		e := s.env(s.selected, s.level)
		if v, err := eval.Evaluate(fmt.Sprintf("(void *) 0x%x", uint64(a)), e); err == nil {
			e.SetConvenience("_", v)
		}
	})
}
