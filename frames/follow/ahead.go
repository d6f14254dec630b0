package follow

import (
	"dbg/arch"
	"dbg/code"
	"dbg/code/flow"
)

// Limits of reading ahead.
const (
	aheadInstructions = 1500 // in total
	aheadPath         = 400  // on one path
	aheadJumps        = 32   // on one path
	aheadForks        = 24   // pending paths
	aheadBytes        = 256
)

// Ahead follows the code from pc on, to a return: it computes what the code does to the stack. It
// works at any PC: in the prologue, the body or an epilogue. thumb is set for Thumb code. slots
// reports whether the result depends on a slot of the global offset table, whose contents may
// change later.
func Ahead(r Reader, pc uint64, thumb bool) (rule *Rule, slots bool) {
	s := &simulation{Reader: r, thumb: thumb}
	rule = s.run(pc)
	return rule, s.slots
}

// simulation follows the code from an address to a return. At a conditional branch it first
// continues after the branch; if that does not lead to a return, it takes the branch. It follows
// unconditional branches. It assumes that a called function leaves the stack pointer as it was.
type simulation struct {
	Reader
	thumb bool
	count int
	forks []readPath
	left  *Rule // the rule at the first jump to an unknown target
	slots bool  // a slot of the global offset table was read, whose contents may change later
}

// readPath is a path through the code, and the state at its end.
type readPath struct {
	pc     uint64
	path   int
	jumps  int
	called bool // the previous instruction was a call
	depend int  // number of instructions from pc on that depend on Thumb's IT
	flow.Ahead
}

// run follows the code to a return.
func (s *simulation) run(pc uint64) *Rule {
	at := readPath{pc: pc, Ahead: flow.NewAhead(s.Arch)}
	first := ""
	for {
		rule, why := s.follow(&at)
		if rule != nil {
			return rule
		}
		if first == "" {
			first = why
		}
		if len(s.forks) == 0 || s.count > aheadInstructions {
			if s.left != nil {
				return s.left
			}
			return &Rule{Why: first}
		}
		at = s.forks[len(s.forks)-1]
		s.forks = s.forks[:len(s.forks)-1]
	}
}

// leaves handles a jump to an unknown target. If no path returns, the jump may be the function's
// tail call. The caller is then the same as at a return there. That requires that the frame was
// removed before the jump.
func (s *simulation) leaves(at *readPath) {
	stub := at.path == 0 && s.Arch.LR == arch.NoReg
	if s.left == nil && (stub || at.Moved()) {
		s.left = at.rule(s.Arch, &code.Insn{})
	}
}

// rule returns the rule for a return in this state, or nil if the stack pointer is unknown.
func (at *readPath) rule(a *arch.Arch, in *code.Insn) *Rule {
	var f flow.Frame
	end := at.Ahead
	if !end.Return(in, &f) {
		return nil
	}
	return ruleOf(a, &f)
}

// Reasons why reading ahead fails.
const (
	aheadBad     = "cannot decode the instructions after PC"
	aheadNoSP    = "cannot follow the stack pointer through the instructions after PC"
	aheadUnknown = "the instructions after PC jump to an unknown address"
	aheadTrap    = "the instructions after PC do not return"
	aheadEndless = "found no return in the instructions after PC"
)

// follow follows a path to its end. It returns the rule at the return instruction, or the reason
// why the path does not return.
func (s *simulation) follow(at *readPath) (*Rule, string) {
	var buf [aheadBytes]byte
	a := s.Arch
	text := s.Read(at.pc, buf[:])
	for ; at.path < aheadPath; at.path++ {
		if s.count++; s.count > aheadInstructions {
			break
		}
		if len(text) < 15 {
			text = s.Read(at.pc, buf[:])
		}
		in := s.decode(at, text)
		if in.Next == code.Bad || in.Len == 0 || omitted(text) {
			return nil, aheadBad
		}
		own := text[:in.Len]
		at.pc, text = at.pc+uint64(in.Len), text[in.Len:]
		switch in.Next {
		case code.Return:
			if r := at.rule(a, &in); r != nil {
				return r, ""
			}
			return nil, aheadNoSP
		case code.Jump, code.Indirect:
			to := s.leadsTo(&in, at.pc)
			if to == 0 {
				s.leaves(at)
			}
			if at.jumps++; to == 0 || at.jumps > aheadJumps {
				return nil, aheadUnknown
			}
			at.pc, at.called, text = to, false, nil
			continue
		case code.Trap:
			return nil, aheadTrap
		case code.Onward:
			switch {
			case own[0] == 0xcc && a.LR == arch.NoReg: // INT3
				return nil, aheadTrap
			case at.called && in.Len > 1 && code.Padding(a, own) == len(own):
				// The call does not return, and what
				// follows is another function (or a loop's head, but no way to tell).
				return nil, aheadTrap
			}
		case code.Branch:
			if len(s.forks) < aheadForks && at.jumps < aheadJumps {
				other := *at
				other.pc += uint64(int64(in.Imm))
				other.called = false
				other.jumps++
				other.Apply(&in)
				s.forks = append(s.forks, other)
			}
		}
		at.called = in.Next == code.Call || in.Next == code.CallFar
		at.Apply(&in)
	}
	return nil, aheadEndless
}

// decode decodes the instruction at the start of text, on a path.
func (s *simulation) decode(at *readPath, text []byte) code.Insn {
	if !s.thumb {
		return code.Decode(s.Arch, text)
	}
	in := code.DecodeThumb(text)
	if n, is := in.IsIT(); is {
		at.depend = n
	} else if at.depend > 0 {
		at.depend--
		in.Conditional()
	}
	return in
}
