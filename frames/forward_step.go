package frames

import (
	"golang.org/x/arch/x86/x86asm"

	"dbg/arch"
)

// value is what a register has, as far as it is an address of the stack.
type value struct {
	base space
	off  int32
}

// space is what addresses of the stack are relative to.
type space uint8

const (
	nowhere space = iota
	cfa           // the canonical frame address
	aligned       // what the stack pointer was when it was last set to what can't be followed: the frame was realigned, or has a size of its own
)

func (v value) plus(n int64) value {
	if v.off += int32(n); v.base == nowhere {
		return value{}
	}
	return v
}

// entryState is what is known at an address. Registers are in the order of the machine's encoding.
type entryState struct {
	regs  [16]value
	saved uint8 // of slotRegs: has been stored in slot and not been loaded since
	lost  uint8 // of slotRegs: has another value, and was not stored
	slot  [6]value
	// The stack's word at link has the address linked: what a function that realigns its frame finds its caller's by.
	link, linked value
}

// Registers by their numbers.
const (
	rax, rcx, rdx, rbx = 0, 1, 2, 3
	rsp, rbp, rsi, rdi = 4, 5, 6, 7
)

// slotNumber is the place in slotRegs of a register, by number; -1 if a function need not preserve it.
var slotNumber = [16]int{-1, -1, -1, 0, -1, 1, -1, -1, -1, -1, -1, -1, 2, 3, 4, 5}

// byNumber are the registers, those first that callers know best.
var byNumber = [...]struct {
	n   int
	reg arch.Reg
}{{rsp, arch.RSP}, {rbp, arch.RBP}, {rbx, arch.RBX}, {12, arch.R12}, {13, arch.R13}, {14, arch.R14}, {15, arch.R15},
	{rax, arch.RAX}, {rcx, arch.RCX}, {rdx, arch.RDX}, {rsi, arch.RSI}, {rdi, arch.RDI}, {8, arch.R8}, {9, arch.R9}, {10, arch.R10}, {11, arch.R11}}

// full is the number of a 64-bit register, -1 if it is none.
func full(r x86asm.Reg) int {
	if x86asm.RAX <= r && r <= x86asm.R15 {
		return int(r - x86asm.RAX)
	}
	return -1
}

// part is the number of the register that r is, or is a part of; -1 if it is no general one.
func part(r x86asm.Reg) int {
	switch {
	case x86asm.RAX <= r && r <= x86asm.R15:
		return int(r - x86asm.RAX)
	case x86asm.EAX <= r && r <= x86asm.R15L:
		return int(r - x86asm.EAX)
	case x86asm.AX <= r && r <= x86asm.R15W:
		return int(r - x86asm.AX)
	case x86asm.AL <= r && r <= x86asm.BL:
		return int(r - x86asm.AL)
	case x86asm.AH <= r && r <= x86asm.BH:
		return int(r - x86asm.AH)
	case x86asm.SPB <= r && r <= x86asm.R15B:
		return int(r-x86asm.SPB) + rsp
	}
	return -1
}

// step does what one instruction does to the stack pointer, to addresses of the stack and to what is saved.
func (at *entryState) step(in *x86asm.Inst) {
	dst, isReg := in.Args[0].(x86asm.Reg)
	src, _ := in.Args[1].(x86asm.Reg)
	from, isMem := in.Args[1].(x86asm.Mem)
	imm, isImm := in.Args[1].(x86asm.Imm)
	switch in.Op {
	case x86asm.PUSH, x86asm.PUSHFQ:
		what, ofMem := in.Args[0].(x86asm.Mem)
		copied := ofMem && at.link.base != nowhere && at.address(what) == at.link
		at.regs[rsp] = at.regs[rsp].plus(-8)
		if copied {
			at.link = at.regs[rsp]
			return
		}
		at.store(at.regs[rsp], dst)
		return
	case x86asm.POPFQ:
		at.regs[rsp] = at.regs[rsp].plus(8)
		return
	case x86asm.POP:
		sp := at.regs[rsp]
		at.regs[rsp] = sp.plus(8)
		at.load(part(dst), sp)
		return
	case x86asm.LEAVE:
		sp := at.regs[rbp]
		at.load(rbp, sp)
		at.set(rsp, sp.plus(8))
		return
	case x86asm.CALL, x86asm.SYSCALL:
		for _, n := range [...]int{rax, rcx, rdx, rsi, rdi, 8, 9, 10, 11} {
			at.regs[n] = value{}
		}
		return
	case x86asm.MUL, x86asm.DIV, x86asm.IDIV, x86asm.IMUL, x86asm.CQO, x86asm.CDQ, x86asm.RDTSC, x86asm.XGETBV, x86asm.CPUID, x86asm.CMPXCHG, x86asm.LOOP,
		x86asm.LODSB, x86asm.LODSD, x86asm.LODSQ, x86asm.STOSB, x86asm.STOSD, x86asm.STOSQ, x86asm.MOVSB, x86asm.MOVSD, x86asm.MOVSQ, x86asm.CMPSB, x86asm.SCASB:
		for _, n := range [...]int{rax, rcx, rdx, rsi, rdi} {
			at.regs[n] = value{}
		}
		if in.Op == x86asm.CPUID {
			at.set(rbx, value{})
		}
	case x86asm.CMP, x86asm.TEST, x86asm.BT, x86asm.NOP:
		return
	case x86asm.FNOP:
		for _, a := range in.Args {
			if r, ok := a.(x86asm.Reg); ok {
				at.set(full(r), value{})
			}
		}
		return
	case x86asm.XCHG, x86asm.XADD:
		if n := part(src); n >= 0 {
			at.set(n, value{})
		}
	}
	if to, ok := in.Args[0].(x86asm.Mem); ok {
		if in.Op == x86asm.MOV {
			at.store(at.address(to), src)
		}
		return
	}
	n := part(dst)
	if !isReg || n < 0 {
		return
	}
	whole := full(dst) >= 0
	switch {
	case in.Op == x86asm.MOV && isMem && whole:
		at.load(n, at.address(from))
	case in.Op == x86asm.MOV && full(src) >= 0 && whole:
		at.set(n, at.regs[full(src)])
	case in.Op == x86asm.LEA && whole:
		at.set(n, at.address(from))
	case in.Op == x86asm.ADD && isImm && whole:
		at.set(n, at.regs[n].plus(int64(imm)))
	case in.Op == x86asm.SUB && isImm && whole:
		at.set(n, at.regs[n].plus(-int64(imm)))
	default:
		at.set(n, value{})
	}
}

// address is what an operand in memory has for an address, as far as that is of the stack.
func (at *entryState) address(m x86asm.Mem) value {
	if n := full(m.Base); n >= 0 && m.Index == 0 && m.Segment == 0 {
		return at.regs[n].plus(m.Disp)
	}
	return value{}
}

// set gives a register a value that is not the caller's.
func (at *entryState) set(n int, v value) {
	if n == rsp && v.base == nowhere {
		v = value{base: aligned}
		for i, r := range at.regs {
			if r.base == aligned {
				at.regs[i] = value{}
			}
		}
		for i, s := range at.slot {
			if s.base == aligned {
				at.slot[i] = value{}
			}
		}
		at.link, at.linked = value{}, value{}
	}
	at.regs[n] = v
	if i := slotNumber[n]; i >= 0 && at.saved&(1<<i) == 0 {
		at.lost |= 1 << i
	}
}

// store notes what is written to the stack.
func (at *entryState) store(to value, src x86asm.Reg) {
	n := full(src)
	if to.base == nowhere {
		return
	}
	if to == at.link {
		at.link, at.linked = value{}, value{}
	}
	if n < 0 {
		return
	}
	if i := slotNumber[n]; i >= 0 && (at.saved|at.lost)&(1<<i) == 0 {
		at.saved |= 1 << i
		at.slot[i] = to
	}
	// The last copy counts: code that moves on in its frame takes it along.
	if to.base == aligned && at.regs[n].base == cfa && (at.link.base == nowhere || at.linked == at.regs[n]) {
		at.link, at.linked = to, at.regs[n]
	}
}

// load is a register that got a word of the stack: if that is where it was saved, it is now what it
// was.
func (at *entryState) load(n int, from value) {
	switch {
	case n < 0:
		return
	case from.base != nowhere && from == at.link:
		at.set(n, at.linked)
		return
	}
	i := slotNumber[n]
	if i < 0 || from.base == nowhere || at.saved&(1<<i) == 0 || at.slot[i] != from {
		at.set(n, value{})
		return
	}
	at.saved &^= 1 << i
	at.slot[i] = value{}
	at.regs[n] = value{}
}

// rule says it in terms of the registers at the address.
func (at *entryState) rule() *codeRule {
	frame, ok := at.find(value{base: cfa})
	if !ok {
		return notFollowed
	}
	r := &codeRule{ra: frame.plus(-8)}
	for i := range slotRegs {
		switch {
		case at.saved&(1<<i) != 0:
			r.regs[i].kind = lost
			if p, ok := at.find(at.slot[i]); ok {
				r.regs[i] = regCode{inStack, p}
			}
		case at.lost&(1<<i) != 0:
			r.regs[i].kind = lost
		}
	}
	return r
}

// find says an address of the stack by a register, or by the word of the stack that leads to it.
func (at *entryState) find(v value) (place, bool) {
	if v.base == nowhere {
		return noPlace, false
	}
	for _, r := range byNumber {
		if have := at.regs[r.n]; have.base == v.base {
			return place{base: r.reg, off: int64(v.off) - int64(have.off)}, true
		}
	}
	if v.base == cfa && at.link.base != nowhere {
		if p, ok := at.find(at.link); ok {
			return place{base: p.base, through: true, word: p.off, off: int64(v.off) - int64(at.linked.off)}, true
		}
	}
	return noPlace, false
}
