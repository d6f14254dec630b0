package session

import (
	"dbg/arch"
	"dbg/code"
	"dbg/target"
)

// A step over a line does not execute its instructions one by one. They are decoded once, and the
// thread runs to an instruction where it leaves the line. So a loop with a million rounds on one
// line costs two stops.

// span is a range of a line's code, in the process.
type span struct{ lo, hi target.Addr }

func (r span) has(a target.Addr) bool { return a >= r.lo && a < r.hi }

// Limits of the decoded code, and of the number of marks.
const (
	mostSpanBytes = 64 << 10
	mostExits     = 64
	mostSpans     = 32
)

// exits finds the places where control leaves the spans, or may leave them: the code after them,
// the targets of branches out of them, instructions that return or jump to an unknown place, and,
// with enter, calls. worth means that marks at these places save steps: there is a loop or a call.
// ok is false if the code can't be decoded.
func (s *Session) exits(spans []span, enter bool) (list []target.Addr, worth, ok bool) {
	seen := map[target.Addr]bool{}
	inside := func(a target.Addr) bool {
		for _, r := range spans {
			if r.has(a) {
				return true
			}
		}
		return false
	}
	add := func(a target.Addr) {
		if !seen[a] {
			seen[a] = true
			list = append(list, a)
		}
	}
	for _, r := range spans {
		if r.hi <= r.lo || r.hi-r.lo > mostSpanBytes {
			return nil, false, false
		}
		text := make([]byte, r.hi-r.lo)
		if n, _ := s.tgt.ReadMemory(r.lo, text); n < len(text) {
			return nil, false, false
		}
		onward := true // control can reach the end of the decoded code
		for at := 0; at < len(text); {
			in := code.DecodeX86(text[at:])
			if in.Len == 0 {
				return nil, false, false
			}
			pc := r.lo + target.Addr(at)
			at += int(in.Len)
			to := r.lo + target.Addr(at) + target.Addr(int64(in.Imm))
			onward = true
			switch in.Next {
			case code.Onward:
			case code.Call, code.CallFar:
				worth = true
				if enter {
					add(pc)
				}
			case code.Jump, code.Branch:
				if inside(to) {
					worth = worth || to <= pc
				} else {
					add(to)
				}
				onward = in.Next == code.Branch
			case code.Indirect, code.Return, code.Trap:
				add(pc)
				onward = false
			default:
				return nil, false, false
			}
		}
		if onward && !inside(r.hi) {
			add(r.hi)
		}
		if len(list) > mostExits {
			return nil, false, false
		}
	}
	return list, worth, len(list) > 0
}

// markInFrame returns a mark at addr that only the frame with this CFA reaches, if the unwind table
// tells how to compute the CFA there.
func (s *Session) markInFrame(addr, cfa target.Addr) mark {
	k := mark{addr: addr, cfa: cfa}
	if mod := s.modules.find(addr); mod != nil && mod.unwind != nil {
		k.cfaReg, k.cfaOffset, k.exact = mod.unwind.CFAAt(s.tgt.Arch(), uint64(mod.fileAddr(addr)))
	}
	return k
}

// matches reports whether a thread at the mark's address is in the mark's frame. moved is the
// distance by which the frame's stack has moved since the mark was made.
func (k *mark) matches(regs *arch.Registers, moved uint64) bool {
	if k.exact {
		v, ok := regs.Get(k.cfaReg)
		return ok && v+uint64(k.cfaOffset) == uint64(k.cfa)+moved
	}
	sp, ok := regs.SP()
	return ok && (k.minSP == 0 || sp >= k.minSP+moved)
}
