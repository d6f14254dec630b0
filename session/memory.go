package session

import (
	"dbg/arch"
	"dbg/eval"
	"dbg/frames"
	"dbg/image"
	"dbg/symbols"
	"dbg/symbols/types"
	"dbg/target"
)

const (
	placeLive   = frames.Live
	placeMemory = frames.InMemory
)

// readMemory reads the process or the core. Without a target, it reads the contents of the
// program's file.
func (s *Session) readMemory(a target.Addr, buf []byte) (int, error) {
	if s.tgt != nil {
		return s.tgt.ReadMemory(a, buf)
	}
	if s.exeFile != nil {
		return s.exeFile.File().ReadAt(image.Addr(a), buf)
	}
	return 0, target.ErrNotRunning
}

// ReadMemory reads memory as the program sees it.
func (s *Session) ReadMemory(a target.Addr, buf []byte) (int, error) {
	n := 0
	err := s.try(func() (err error) { n, err = s.readMemory(a, buf); return err })
	return n, err
}

// WriteMemory changes memory.
func (s *Session) WriteMemory(a target.Addr, data []byte) (int, error) {
	n := 0
	err := s.try(func() (err error) {
		n, err = s.env(s.selected, s.level).WriteMemory(a, data)
		return err
	})
	return n, err
}

// Examine runs the x command: it shows count units from a on. The format 'i' is handled by
// Disassemble.
func (s *Session) Examine(a target.Addr, format, unit byte, count int) (lines []string, next target.Addr, err error) {
	e := s.try(func() error {
		lines, next, err = eval.Examine(a, format, unit, count, s.env(s.selected, s.level))
		return nil
	})
	if e != nil {
		err = e
	}
	return lines, next, err
}

// Registers returns the general registers of a frame.
func (s *Session) Registers(t target.ThreadID, level int) ([]RegisterValue, error) {
	return ask(s, func() ([]RegisterValue, error) {
		f, err := s.frame(t, level)
		if err != nil {
			return nil, err
		}
		a := s.tgt.Arch()
		var out []RegisterValue
		for _, r := range a.General {
			v, ok := f.Machine.Regs.Get(r)
			out = append(out, RegisterValue{Name: a.RegName(r), Value: v, Known: ok})
		}
		return out, nil
	})
}

// SetRegister changes a register of a frame in the place where the frame keeps it.
func (s *Session) SetRegister(t target.ThreadID, level int, name string, v uint64) error {
	return s.try(func() error { return s.env(t, level).SetRegister(name, v) })
}

// returnValue reads the value that a function has just returned, by the System V ABI for x86-64:
// class INTEGER in rax, class SSE in xmm0. It does not find values in memory or in several
// registers.
func (s *Session) returnValue(t target.ThreadID, m *Module, fn *symbols.Function) (Value, bool) {
	if fn == nil || m == nil || m.Symbols == nil || s.tgt.Arch() != arch.AMD64 {
		return Value{}, false
	}
	ft := m.Symbols.FunctionType(fn)
	if ft == nil {
		return Value{}, false
	}
	rt := ft.Elem()
	if rt == nil {
		return Value{}, false
	}
	st := rt.Strip()
	if st.Size < 1 || st.Size > 8 {
		return Value{}, false
	}
	switch st.Kind {
	case types.Bool, types.Int, types.Uint, types.Char, types.Pointer, types.Enum, types.Reference, types.RvalueReference:
		regs, err := s.tgt.Registers(t)
		if err != nil {
			return Value{}, false
		}
		rax, ok := regs.Get(arch.RAX)
		if !ok {
			return Value{}, false
		}
		var buf [8]byte
		s.tgt.Arch().ByteOrder.PutUint64(buf[:], rax)
		return Value{Type: rt, Bytes: buf[:st.Size]}, true
	case types.Float:
		b, err := s.tgt.WideRegister(t, arch.XMM0)
		if err != nil || int64(len(b)) < st.Size {
			return Value{}, false
		}
		return Value{Type: rt, Bytes: b[:st.Size]}, true
	}
	return Value{}, false
}

// DefaultFormat returns the default format of values.
func DefaultFormat() eval.Options { return eval.DefaultOptions() }
