package session

import (
	"dbg/eval"
	"dbg/frames"
	"dbg/image"
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
		e := s.env(s.selected, s.level)
		lines, next, err = eval.Examine(a, format, unit, count, e)
		e.examined(a, next, format, unit, len(lines))
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

// DefaultFormat returns the default format of values.
func DefaultFormat() eval.Options { return eval.DefaultOptions() }
