package session

import (
	"encoding/binary"
	"fmt"
	"strings"

	"dbg/target"
)

// StepTarget is a call on the current line of a thread.
type StepTarget struct {
	ID   int         // 1, 2, ... in the order of addresses
	Addr target.Addr // of the call instruction
	// Name is the called function's, or the operand of an indirect call whose target is not known
	// yet.
	Name string

	next target.Addr // the instruction after the call
}

// StepTargets lists the calls of a thread's current line, from the thread's PC on. Inlined calls
// are not among them.
func (s *Session) StepTargets(t target.ThreadID) ([]StepTarget, error) {
	return ask(s, func() ([]StepTarget, error) {
		if err := s.needProcess(); err != nil {
			return nil, err
		}
		list, _, err := s.stepTargets(t)
		return list, err
	})
}

// StepIntoTarget makes a thread step into one of the calls that StepTargets lists, and over the
// others. If the call is not made, the step ends where next would.
func (s *Session) StepIntoTarget(t target.ThreadID, id int) error {
	return s.try(func() error {
		if err := s.needProcess(); err != nil {
			return err
		}
		if !s.hasThread(t) {
			return fmt.Errorf("%w: %d", target.ErrNoThread, t)
		}
		list, spans, err := s.stepTargets(t)
		if err != nil {
			return err
		}
		if id < 1 || id > len(list) {
			return fmt.Errorf("the line has no call %d", id)
		}
		if s.selected != t {
			s.selected, s.level = t, 0
		}
		s.stepFrom = s.markFrame()
		k := list[id-1]
		return s.goBy(t, &lineStep{over: true, count: 1, signalled: s.getsSignal(t), call: k.Addr, callReturn: k.next, spans: spans})
	})
}

// stepTargets lists the calls of a thread's line, and the line's ranges in the function.
func (s *Session) stepTargets(t target.ThreadID) (list []StepTarget, spans []span, err error) {
	pc, _, err := s.pcAndSP(t)
	if err != nil {
		return nil, nil, err
	}
	here, m, ok := s.position(pc)
	if !ok {
		return nil, nil, fmt.Errorf("there is no line at %s", pc)
	}
	lo, hi, _, ok := s.functionAround(pc)
	if !ok || hi-lo > mostSpanBytes {
		lo, hi = m.processAddr(here.Lo), m.processAddr(here.Hi)
	}
	for a := lo; a < hi; {
		lr, ok := m.Symbols.LineAt(m.fileAddr(a))
		if !ok || m.processAddr(lr.Hi) <= a {
			a++
			continue
		}
		end := min(m.processAddr(lr.Hi), hi)
		if lr.Line == here.Line && lr.File == here.File {
			spans = append(spans, span{a, end})
		}
		a = end
	}
	for _, r := range spans {
		code, err := s.disassemble(r.lo, int(r.hi-r.lo))
		if err != nil {
			return nil, nil, err
		}
		for _, in := range code {
			if in.Addr >= r.hi {
				break
			}
			if !in.call || in.Addr < pc {
				continue
			}
			next := in.Addr + target.Addr(len(in.Bytes))
			list = append(list, StepTarget{ID: len(list) + 1, Addr: in.Addr, Name: s.calledName(&in, next), next: next})
		}
	}
	return list, spans, nil
}

// calledName names the function that an instruction calls.
func (s *Session) calledName(in *instruction, next target.Addr) string {
	to := target.Addr(0)
	b := in.Bytes
	switch {
	case len(b) == 5 && b[0] == 0xe8:
		to = next + target.Addr(int64(int32(binary.LittleEndian.Uint32(b[1:]))))
	case len(b) == 6 && b[0] == 0xff && b[1] == 0x15: // through a word at a fixed place, such as the GOT
		v, ok := wordAt(s.tgt, uint64(next)+uint64(int64(int32(binary.LittleEndian.Uint32(b[2:])))))
		if ok {
			to = target.Addr(v)
		}
	}
	if name, off, ok := s.symbolize(to); ok && to != 0 {
		if off != 0 {
			name = fmt.Sprintf("%s+%d", name, off)
		}
		return strings.TrimSuffix(name, "@plt")
	}
	if _, operand, ok := strings.Cut(in.Text, " "); ok {
		return operand
	}
	return in.Text
}

// SetStepMode makes step enter functions without line numbers: "set step-mode on".
func (s *Session) SetStepMode(on bool) { s.do(func() { s.stepMode = on }) }

// StepMode returns the present setting.
func (s *Session) StepMode() (on bool) {
	s.do(func() { on = s.stepMode })
	return on
}

// linelessEntry returns where a step enters a function without line numbers: at its first instruction. A
// stub of the procedure linkage table represents the function to which it will jump, if that can be
// found.
func (s *Session) linelessEntry(pc target.Addr) (target.Addr, bool) {
	name, _, ok := s.symbolize(pc)
	if !ok {
		return pc, true
	}
	name, stub := strings.CutSuffix(name, "@plt")
	if !stub {
		return pc, true
	}
	for _, m := range s.modules.all {
		if m.Symbols == nil {
			continue
		}
		if a, ok := m.Symbols.OwnLinkageAddr(name); ok && a != 0 && !m.Symbols.IsIFunc(a) {
			return m.processAddr(a), true
		}
	}
	return 0, false
}
