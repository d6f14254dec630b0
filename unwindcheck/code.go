package unwindcheck

import "encoding/binary"

// class sorts instructions by what they do to the stack and the flow of control.
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

// instruction is what must be known of one.
type instruction struct {
	class class
	next  uint64 // of a call: the return address
	here  bool   // of a call: its target is next, as of code that wants to know where it is
}

// decode looks at the instruction at pc: Intel SDM volume 2, 2.1 and appendix A. Only as much is
// decoded as tells the classes apart; b may be cut short by the end of memory.
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
		return instruction{}
	}
	op := b[n]
	modrm := byte(0)
	if n+1 < len(b) {
		modrm = b[n+1]
	}
	mod, reg, rm := modrm>>6, modrm>>3&7, modrm&7
	regSP := wide && reg == 4 && !rexR
	rmSP := wide && mod == 3 && rm == 4 && !rexB
	switch {
	case op == 0xe8 && n+5 <= len(b):
		rel := int32(binary.LittleEndian.Uint32(b[n+1:]))
		return instruction{class: call, next: pc + uint64(n+5), here: rel == 0}
	case op == 0xff && reg == 2:
		return instruction{class: call, next: pc + uint64(n+1+modrmLength(b[n+1:]))}
	case op == 0xff && reg == 4:
		return instruction{class: jump}
	case op == 0xc3, op == 0xc2:
		return instruction{class: ret}
	case op == 0x0f && (modrm == 0x05 || modrm == 0x34), op == 0xcd && modrm == 0x80:
		return instruction{class: syscall}
	case op == 0x9c:
		return instruction{class: pushFlags}
	case op >= 0x50 && op <= 0x57:
		return instruction{class: push}
	case op == 0x5c && !rexB, op == 0x8f && reg == 0 && mod == 3 && rm == 4 && !rexB:
		return instruction{class: loadSP}
	case op >= 0x58 && op <= 0x5f, op == 0x8f && reg == 0:
		return instruction{class: pop}
	case op == 0x8b && regSP && mod != 3, op == 0x87 && regSP && mod != 3:
		return instruction{class: loadSP}
	case op == 0x8b && regSP, op == 0x89 && rmSP, // mov
		op == 0x8d && regSP,                                        // lea
		op == 0x87 && (regSP || rmSP), op == 0x94 && wide && !rexB, // xchg
		op == 0xc9: // leave
		return instruction{class: setSP}
	case op == 0xcc, op == 0xf1:
		return instruction{class: trapItself}
	}
	return instruction{}
}

// isPrefix reports whether c is a legacy prefix.
func isPrefix(c byte) bool {
	switch c {
	case 0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65:
		return true
	}
	return false
}

// modrmLength is the length of ModRM, SIB and displacement.
func modrmLength(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	mod, rm := b[0]>>6, b[0]&7
	if mod == 3 {
		return 1
	}
	n := 1
	if rm == 4 {
		n++
		if len(b) > 1 && mod == 0 && b[1]&7 == 5 {
			n += 4
		}
	}
	switch {
	case mod == 0 && rm == 5, mod == 2:
		n += 4
	case mod == 1:
		n++
	}
	return n
}
