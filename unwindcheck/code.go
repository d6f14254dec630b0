package unwindcheck

import (
	"bytes"
	"encoding/binary"

	"dbg/code"
)

// class classifies instructions by their effect on the stack and the flow of control.
type class uint8

const (
	plain      class = iota
	call             // near call
	ret              // near return
	jump             // jump through a register or memory
	syscall          // syscall, sysenter, int 0x80
	push             // of one register
	pop              // into a register other than RSP
	setSP            // RSP from a register, or computed from one
	loadSP           // RSP from memory
	pushFlags        // pushf
	trapItself       // int3, int1: its SIGTRAP is not the step's
)

// flow classifies instructions by what follows them.
type flow uint8

const (
	onward    flow = iota // the instruction after it, unless it faults
	direct                // target
	branch                // target, or the instruction after it
	back                  // the return address
	uncertain             // unknown, or not worth the effort
)

// instruction is the information about an instruction.
type instruction struct {
	class  class
	flow   flow
	cond   byte   // of a branch: the low four bits of its opcode
	here   bool   // of a call: it only gets the code's own address
	next   uint64 // of calls and branches: the address after it
	target uint64
}

// firsts lists the first bytes of functions: push, endbr64, sub $n, %rsp.
var firsts = [][]byte{{0x55}, {0xf3, 0x0f, 0x1e, 0xfa}, {0x48, 0x83, 0xec}, {0x48, 0x81, 0xec}, {0x50}, {0x53}, {0x41, 0x54}, {0x41, 0x55}, {0x41, 0x56}, {0x41, 0x57}}

// begins reports whether code looks like a function's first instruction: the code after a call of a
// function that does not return may be another function.
func begins(b []byte) bool {
	for _, first := range firsts {
		if bytes.HasPrefix(b, first) {
			return true
		}
	}
	return false
}

// decode classifies the instruction at pc: Intel SDM volume 2, 2.1 and appendix A. It decodes only
// what the classes require. b may be cut off at the end of memory.
func decode(b []byte, pc uint64) instruction {
	var wide, rexR, rexB bool
	n := 0
	for n < len(b) && isPrefix(b[n]) {
		n++
	}
	if n < len(b) && b[n]&0xf0 == 0x40 {
		wide, rexR, rexB = b[n]&8 != 0, b[n]&4 != 0, b[n]&1 != 0
		n++
	}
	if n >= len(b) {
		return instruction{flow: uncertain}
	}
	op := b[n]
	rel := func(at, size int) (next, target uint64) {
		if at+size > len(b) {
			return 0, 0
		}
		next = pc + uint64(at+size)
		if size == 1 {
			return next, next + uint64(int64(int8(b[at])))
		}
		return next, next + uint64(int64(int32(binary.LittleEndian.Uint32(b[at:]))))
	}
	modrm := byte(0)
	if n+1 < len(b) {
		modrm = b[n+1]
	}
	mod, reg, rm := modrm>>6, modrm>>3&7, modrm&7
	regSP := wide && reg == 4 && !rexR
	rmSP := wide && mod == 3 && rm == 4 && !rexB
	in := instruction{}
	switch {
	case op == 0xe8:
		in.class, in.flow = call, direct
		in.next, in.target = rel(n+1, 4)
		in.here = in.next == in.target && in.next != 0 && !begins(b[min(n+5, len(b)):])
	case op == 0xff && reg == 2:
		in.class, in.flow, in.next = call, uncertain, pc+uint64(n+1+code.ModRMLength(b[n+1:]))
	case op == 0xff && reg == 4:
		in.class, in.flow = jump, uncertain
	case op == 0xe9:
		in.flow = direct
		in.next, in.target = rel(n+1, 4)
	case op == 0xeb:
		in.flow = direct
		in.next, in.target = rel(n+1, 1)
	case op&0xf0 == 0x70:
		in.flow, in.cond = branch, op&15
		in.next, in.target = rel(n+1, 1)
	case op == 0x0f && modrm&0xf0 == 0x80:
		in.flow, in.cond = branch, modrm&15
		in.next, in.target = rel(n+2, 4)
	case op == 0xc3, op == 0xc2:
		in.class, in.flow = ret, back
	case op == 0x0f && (modrm == 0x05 || modrm == 0x34), op == 0xcd && modrm == 0x80:
		in.class, in.flow = syscall, uncertain
	case op == 0x9c:
		in.class, in.flow = pushFlags, uncertain
	case op >= 0x50 && op <= 0x57:
		in.class = push
	case op == 0x5c && !rexB, op == 0x8f && reg == 0 && mod == 3 && rm == 4 && !rexB:
		in.class = loadSP
	case op >= 0x58 && op <= 0x5f, op == 0x8f && reg == 0:
		in.class = pop
	case op == 0x8b && regSP && mod != 3, op == 0x87 && regSP && mod != 3:
		in.class = loadSP
	case op == 0x8b && regSP, op == 0x89 && rmSP, // mov
		op == 0x8d && regSP,                                        // lea
		op == 0x87 && (regSP || rmSP), op == 0x94 && wide && !rexB, // xchg
		op == 0xc9: // leave
		in.class = setSP
	case op == 0xcc, op == 0xf1:
		in.class, in.flow = trapItself, uncertain
	case op >= 0xa4 && op <= 0xa7, op >= 0xaa && op <= 0xaf, op >= 0x6c && op <= 0x6f, // strings: a step is one round
		op >= 0xe0 && op <= 0xe3, op == 0x9d, op == 0xf4, // loops and jrcxz, popf, hlt
		op == 0xca, op == 0xcb, op == 0xcd, op == 0xcf, op == 0xff && (reg == 3 || reg == 5), // far, interrupts
		op == 0xc7 && modrm == 0xf8, op == 0x0f && (modrm == 0x01 || modrm == 0x0b || modrm == 0xaa), // xbegin, system
		op == 0x8e: // a load of SS holds back what comes next
		in.flow = uncertain
	}
	if (in.flow == direct || in.flow == branch) && (in.next == 0 || b[0] == 0x66) {
		in.flow = uncertain
	}
	return in
}

// taken reports whether a branch is taken: Intel SDM volume 1, appendix B.
func taken(cond byte, flags uint64) bool {
	const cf, pf, zf, sf, of = 1 << 0, 1 << 2, 1 << 6, 1 << 7, 1 << 11
	less := (flags&sf != 0) != (flags&of != 0)
	var yes bool
	switch cond >> 1 {
	case 0:
		yes = flags&of != 0
	case 1:
		yes = flags&cf != 0
	case 2:
		yes = flags&zf != 0
	case 3:
		yes = flags&(cf|zf) != 0
	case 4:
		yes = flags&sf != 0
	case 5:
		yes = flags&pf != 0
	case 6:
		yes = less
	case 7:
		yes = less || flags&zf != 0
	}
	return yes == (cond&1 == 0)
}

// isPrefix reports whether c is a legacy prefix.
func isPrefix(c byte) bool {
	switch c {
	case 0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65:
		return true
	}
	return false
}
