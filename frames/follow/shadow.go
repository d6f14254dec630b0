package follow

import (
	"dbg/arch"
	"dbg/code"
	"dbg/target"
)

// shadowInstructions is the maximum number of instructions that are read to find a return.
const shadowInstructions = 2000

// LinkPlace is the place of a function's return address.
type LinkPlace uint8

const (
	LinkUnknown   LinkPlace = iota // no path leads to a return that shows it
	LinkRegister                   // in the link register
	LinkShadow                     // on the shadow call stack
	LinkElsewhere                  // on the ordinary stack: the function keeps none on the shadow call stack
)

// ShadowEnd is the effect of a function on its shadow call stack, from an address on until it
// returns.
type ShadowEnd struct {
	Link    LinkPlace
	At      int64 // for LinkShadow: offset of the return address from the current pointer
	Pointer int64 // offset of the pointer after the return
}

// shadowPath is a path through the code.
type shadowPath struct {
	pc     uint64
	end    ShadowEnd
	called bool // the path goes through a call, which may not return
	pushed bool // the path stores the link register, as it is now, on the shadow call stack
	push   int64
}

// FindShadowEnd follows the code from pc, an address in the process, to a return. reg is the
// pointer of the shadow call stack; called is set if pc is a return address. The paths through a
// function agree, so the first conclusive return decides. A path may lead past a call that never
// returns into the next function: the code there proves nothing.
func FindShadowEnd(r Reader, pc uint64, reg arch.Reg, called bool) ShadowEnd {
	var buf [4]byte
	first := shadowPath{pc: pc, end: ShadowEnd{Link: LinkRegister}}
	if called {
		first.end.Link = LinkElsewhere // the call has changed the link register
	}
	paths, been := []shadowPath{first}, map[uint64]bool{}
	for len(paths) > 0 && len(been) < shadowInstructions {
		path := &paths[len(paths)-1]
		if been[path.pc] {
			paths = paths[:len(paths)-1]
			continue
		}
		been[path.pc] = true
		in := code.Decode(r.Arch, r.instruction(path.pc, buf[:]))
		next := path.pc + uint64(in.Len)
		to := next + uint64(int64(in.Imm))
		sound := path.apply(&in, uint8(reg), uint8(r.Arch.LR))
		path.pc = next
		switch {
		case sound && in.Next == code.Return:
			if path.end.Link == LinkElsewhere && path.called {
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
	return ShadowEnd{}
}

// instruction reads an instruction; the result may be empty.
func (r *Reader) instruction(pc uint64, buf []byte) []byte {
	if r.File != nil {
		if b := r.File.CodeAt(pc-r.File.Bias(), len(buf)); b != nil {
			return b
		}
	}
	n, _ := r.Memory.ReadMemory(target.Addr(pc), buf)
	return buf[:max(0, min(n, len(buf)))]
}

// apply applies an instruction to the shadow call stack's pointer and to the link register. It
// returns false for an operation on them that does not occur in functions with a return address
// there.
func (path *shadowPath) apply(in *code.Insn, pointer, link uint8) bool {
	e := &path.end
	onShadow := (in.Op == code.Load || in.Op == code.Store) && in.Base == pointer
	address := e.Pointer
	if onShadow && in.Wrap != code.Post {
		address += int64(in.Imm)
	}
	switch {
	case in.Next == code.Call || in.Next == code.CallFar:
		path.called, e.Link = true, LinkElsewhere
		return true // the called function restores the pointer
	case in.Kills&(1<<pointer) != 0:
		return false
	case in.Op == code.Store && onShadow && in.Src == link && e.Link != LinkRegister:
		return false // the beginning of the next function
	case in.Op == code.Store && onShadow && in.Src == link:
		path.pushed, path.push = true, address
	case in.Op == code.Load && onShadow && in.Dst == link && path.pushed && path.push == address:
		e.Link = LinkRegister
	case in.Op == code.Load && onShadow && in.Dst == link:
		e.Link, e.At = LinkShadow, address
	case in.Op == code.Add && in.Dst == pointer && in.Src == pointer:
		e.Pointer += int64(in.Imm)
	case writes(in, pointer):
		return false
	case in.Kills&(1<<link) != 0 || writes(in, link):
		e.Link = LinkElsewhere
	}
	if onShadow && in.Wrap != code.Keep {
		e.Pointer += int64(in.Imm)
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
