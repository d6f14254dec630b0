package frames

import (
	"dbg/arch"
	"dbg/code"
	"dbg/target"
)

// shadowInstructions is the maximum number of instructions that are read to find a return.
const shadowInstructions = 2000

// linkPlace is the place of a function's return address.
type linkPlace uint8

const (
	linkUnknown   linkPlace = iota // no path leads to a return that shows it
	linkRegister                   // in the link register
	linkShadow                     // on the shadow call stack
	linkElsewhere                  // on the ordinary stack: the function keeps none on the shadow call stack
)

// shadowEnd is the effect of a function on its shadow call stack, from an address on until it
// returns.
type shadowEnd struct {
	link    linkPlace
	at      int64 // for linkShadow: offset of the return address from the current pointer
	pointer int64 // offset of the pointer after the return
}

// shadowPath is a path through the code.
type shadowPath struct {
	pc     uint64
	end    shadowEnd
	called bool // the path goes through a call, which may not return
	pushed bool // the path stores the link register, as it is now, on the shadow call stack
	push   int64
}

// shadowEnd follows the code to a return. The paths through a function agree, so the first
// conclusive return decides. A path may lead past a call that never returns into the next function:
// the code there proves nothing.
func (w *Walk) shadowEnd(pc uint64, reg arch.Reg) shadowEnd {
	first := shadowPath{pc: pc, end: shadowEnd{link: linkRegister}}
	if w.frame.PCIsReturnAddress {
		first.end.link = linkElsewhere // the call has changed the link register
	}
	paths, been := []shadowPath{first}, map[uint64]bool{}
	for len(paths) > 0 && len(been) < shadowInstructions {
		path := &paths[len(paths)-1]
		if been[path.pc] {
			paths = paths[:len(paths)-1]
			continue
		}
		been[path.pc] = true
		in := code.Decode(w.u.arch, w.instructionAt(path.pc))
		next := path.pc + uint64(in.Len)
		to := next + uint64(int64(in.Imm))
		sound := path.apply(&in, uint8(reg), uint8(w.u.arch.LR))
		path.pc = next
		switch {
		case sound && in.Next == code.Return:
			if path.end.link == linkElsewhere && path.called {
				break // this may be the next function
			}
			return path.end
		case !sound || in.Next == code.Indirect || in.Next == code.Trap || in.Next == code.Bad:
		case in.Next == code.Jump:
			path.pc = to
			continue
		case in.Next == code.Branch:
			other := *path
			other.pc = to
			path.pc = next
			paths = append(paths[:len(paths)-1], other, *path)
			continue
		default:
			continue
		}
		paths = paths[:len(paths)-1]
	}
	return shadowEnd{}
}

// instructionAt reads an instruction; the result may be empty.
func (w *Walk) instructionAt(pc uint64) []byte {
	if m := w.pinned.module; m != nil {
		if b := m.CodeAt(pc-m.Bias(), 4); b != nil {
			return b
		}
	}
	n, _ := w.u.space.ReadMemory(target.Addr(pc), w.code[:4])
	return w.code[:max(0, min(n, 4))]
}

// apply applies an instruction to the shadow call stack's pointer and to the link register. It
// returns false for an operation on them that does not occur in functions with a return address
// there.
func (path *shadowPath) apply(in *code.Insn, pointer, link uint8) bool {
	e := &path.end
	onShadow := (in.Op == code.Load || in.Op == code.Store) && in.Base == pointer
	address := e.pointer
	if onShadow && in.Wrap != code.Post {
		address += int64(in.Imm)
	}
	switch {
	case in.Next == code.Call || in.Next == code.CallFar:
		path.called, e.link = true, linkElsewhere
		return true // the called function restores the pointer
	case in.Kills&(1<<pointer) != 0:
		return false
	case in.Op == code.Store && onShadow && in.Src == link && e.link != linkRegister:
		return false // the beginning of the next function
	case in.Op == code.Store && onShadow && in.Src == link:
		path.pushed, path.push = true, address
	case in.Op == code.Load && onShadow && in.Dst == link && path.pushed && path.push == address:
		e.link = linkRegister
	case in.Op == code.Load && onShadow && in.Dst == link:
		e.link, e.at = linkShadow, address
	case in.Op == code.Add && in.Dst == pointer && in.Src == pointer:
		e.pointer += int64(in.Imm)
	case writes(in, pointer):
		return false
	case in.Kills&(1<<link) != 0 || writes(in, link):
		e.link = linkElsewhere
	}
	if onShadow && in.Wrap != code.Keep {
		e.pointer += int64(in.Imm)
	}
	return true
}

// writes reports whether an instruction's operation changes a register.
func writes(in *code.Insn, r uint8) bool {
	switch in.Op {
	case code.Load:
		return in.Dst == r || in.Src == r
	case code.Pop, code.Add, code.AddReg, code.SubReg, code.Const, code.ConstPart:
		return in.Dst == r
	}
	return false
}
