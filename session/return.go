package session

import (
	"errors"
	"fmt"

	"dbg/abi"
	"dbg/arch"
	"dbg/eval"
	"dbg/symbols/types"
	"dbg/target"
)

// Return makes the selected frame return to its caller at once: the frame and those that it has
// called are taken off the stack. value is the expression of what it returns; "" leaves that as it
// is. The selected frame is the caller then.
func (s *Session) Return(value string) error {
	return s.try(func() error {
		if s.proc == nil {
			return errNoProcessToCall
		}
		if err := s.needProcess(); err != nil {
			return err
		}
		f, err := s.frame(s.selected, s.level)
		if err != nil {
			return err
		}
		if f.Inlined || f.TailCall {
			return errors.New("Can not force return from an inlined function.") //lint:ignore ST1005 gdb's words
		}
		if f.outside || f.Machine.Signal {
			return errors.New("Can not force return from this frame.") //lint:ignore ST1005 gdb's words
		}
		var result Value
		var place abi.Place
		if value != "" && !f.Dummy {
			if result, place, err = s.returned(&f, value); err != nil {
				return err
			}
			if f, err = s.frame(s.selected, s.level); err != nil { // the expression may have called something
				return err
			}
		}
		if err := s.popFrame(&f, result, place); err != nil {
			return err
		}
		s.dropCache()
		s.point(s.selected)
		return nil
	})
}

// returned evaluates what a frame's function is to return, and tells where that belongs.
func (s *Session) returned(f *Frame, text string) (Value, abi.Place, error) {
	e := s.env(s.selected, s.level)
	v, err := eval.Evaluate(text, e)
	if err != nil {
		return v, abi.Place{}, err
	}
	how := callee{result: v.Type}
	if f.Function != nil && f.Module != nil && f.Module.Symbols != nil {
		how.lang, how.producer = f.Function.Lang, f.Function.Producer()
		if t := f.Module.Symbols.FunctionType(f.Function); t != nil {
			how.typ, how.result = t, t.Elem()
		}
	}
	if how.result == nil || how.result.Strip().Kind == types.Void {
		return v, abi.Place{}, nil // a function without a value: the expression was for its effects
	}
	if v, err = eval.Convert(v, how.result, e); err != nil {
		return v, abi.Place{}, err
	}
	p, err := how.place()
	if err == nil && p.Memory {
		err = errors.New("The location at which to store the function's return value is unknown.") //lint:ignore ST1005 gdb's words
	}
	return v, p, err
}

// popFrame gives a thread the registers of a frame's caller.
func (s *Session) popFrame(f *Frame, result Value, place abi.Place) error {
	outer := *f
	for err := error(nil); outer.Machine.Index == f.Machine.Index && !f.Dummy; {
		if outer, err = s.frame(s.selected, outer.Level+1); err != nil {
			return errors.New("Can not force return from the outermost frame.") //lint:ignore ST1005 there is no caller
		}
	}
	sp, known := outer.Machine.Regs.SP()
	pc, ok := outer.Machine.Regs.PC()
	if !known || !ok {
		return errors.New("the caller's registers are not known")
	}
	if k := s.callBelow(s.selected, target.Addr(pc), sp); k != nil {
		if k.golang != nil {
			return s.takeBack(k)
		}
		return s.undoCall(k)
	}
	st, err := s.proc.SaveState(s.selected)
	if err != nil {
		return err
	}
	st.LeaveSyscall()
	for _, r := range s.tgt.Arch().General {
		if v, ok := outer.Machine.Regs.Get(r); ok {
			st.SetGeneral(r, v)
		}
	}
	var x87 [][]byte
	for _, p := range place.Parts {
		if p.Offset+p.Size > int64(len(result.Bytes)) {
			return errUnknownPlace
		}
		b := result.Bytes[p.Offset : p.Offset+p.Size]
		switch {
		case p.Reg >= arch.ST0 && p.Reg < arch.ST0+8:
			x87 = append(x87, b)
		case p.Reg >= arch.XMM0:
			if !st.SetVector(p.Reg, b) {
				return errUnknownPlace
			}
		default:
			var word [8]byte
			copy(word[:], b)
			st.SetGeneral(p.Reg, s.tgt.Arch().ByteOrder.Uint64(word[:]))
		}
	}
	if len(x87) > 0 && !st.SetX87(x87...) {
		return errUnknownPlace
	}
	if err := s.proc.RestoreState(s.selected, st); err != nil {
		return err
	}
	for _, k := range append([]*call(nil), s.calls...) {
		if k.thread == s.selected && k.golang == nil && k.sp < sp && sp-k.sp < stackReach {
			s.dropCall(k) // its frame is gone
		}
	}
	return nil
}

// JumpTarget finds the place of a jump, and the function that the selected thread is in if the place
// is in another one.
func (s *Session) JumpTarget(spec LocationSpec) (place BreakpointPlace, leaves string, err error) {
	places, err := s.FindLocation(spec)
	if err != nil {
		return place, "", err
	}
	if len(places) != 1 {
		return place, "", errors.New("Unreasonable jump request") //lint:ignore ST1005 gdb's words
	}
	place = places[0]
	err = s.try(func() error {
		place.describe()
		if f, e := s.frame(s.selected, 0); e == nil && f.FunctionName != place.Function {
			leaves = f.FunctionName
		}
		return nil
	})
	return place, leaves, err
}

// Jump lets the program continue with the selected thread at an address. A breakpoint there is hit.
func (s *Session) Jump(a target.Addr) error {
	return s.try(func() error {
		if s.proc == nil {
			return errNoProcessToCall
		}
		if err := s.needProcess(); err != nil {
			return err
		}
		st, err := s.proc.SaveState(s.selected)
		if err != nil {
			return err
		}
		st.LeaveSyscall()
		if !st.SetGeneral(s.tgt.Arch().PC, uint64(a)) {
			return fmt.Errorf("the program counter can't be changed")
		}
		if err := s.proc.RestoreState(s.selected, st); err != nil {
			return err
		}
		return s.letGo(target.Resume{})
	})
}
