package code

import "dbg/arch"

// Moves describes the values that an instruction copies: see Insn.Moves.
type Moves struct {
	Stores uint32 // mask of registers that it stores in memory, or copies to another register
	Loads  uint32 // mask of registers that get a value from memory, or from a vector register
	From   uint8  // the register that is copied to To, or None
	To     uint8
}

// Moves returns the registers that an instruction, whose bytes are text, copies unchanged. Vector
// registers count as far as single values are moved to and from them.
func (in *Insn) Moves(a *arch.Arch, text []byte) Moves {
	if a == arch.AMD64 || a == arch.I386 {
		return x86Moves(text)
	}
	out := Moves{From: None, To: None}
	switch in.Op {
	case Push, Store, StoreMany:
		out.Stores = in.Stores()
	case Add:
		if in.Imm == 0 {
			out.Stores, out.From, out.To = bit(in.Src), in.Src, in.Dst
		}
	case Load, Pop:
		out.Loads = bit(in.Dst) | bit(in.Src)
	case LoadMany:
		out.Loads = uint32(in.List)
	case Nothing, Leave:
		out.Loads = in.Kills
	}
	return out
}

// Stores returns the mask of registers that an instruction stores in memory by its Op.
func (in *Insn) Stores() uint32 {
	switch in.Op {
	case Push:
		return bit(in.Src)
	case Store:
		return bit(in.Src) | bit(in.Dst)
	case StoreMany:
		return uint32(in.List)
	}
	return 0
}

// Writes returns the mask of registers that an instruction writes.
func (in *Insn) Writes() uint32 {
	w := in.Kills
	switch in.Op {
	case Add, AddReg, SubReg, Const, ConstPart, Pop:
		w |= bit(in.Dst)
	case Load:
		w |= bit(in.Dst) | bit(in.Src)
	case LoadMany:
		w |= uint32(in.List)
	}
	return w
}

func bit(n uint8) uint32 {
	if n < 32 {
		return 1 << n
	}
	return 0
}

// x86Moves is Moves from the encoding: Intel SDM volume 2, chapter 2. The decoder tracks only
// addresses that it can compute, while a register may be stored anywhere.
func x86Moves(b []byte) Moves {
	out := Moves{From: None, To: None}
	rex, table := byte(0), byte(0)
	i := 0
	next := func() (c byte) {
		if i < len(b) {
			c = b[i]
		}
		i++
		return c
	}
	op := next()
	for op == 0x66 || op == 0x67 || op == 0xf2 || op == 0xf3 || op == 0x2e || op == 0x36 || op == 0x3e || op == 0x26 || op == 0x64 || op == 0x65 || op == 0xf0 {
		op = next()
	}
	switch {
	case op&0xf0 == 0x40:
		rex = op
		op = next()
	case op == 0xc5: // VEX of two bytes: R and no X, B; the map is 0F
		p := next()
		rex, table = ^p>>5&4, 1
		op = next()
	case op == 0xc4:
		p := next()
		rex, table = ^p>>5&7, p&0x1f
		next()
		op = next()
	}
	if op == 0x0f && table == 0 {
		table = 1
		if op = next(); op == 0x38 || op == 0x3a {
			table = 2 + op>>1&1
			op = next()
		}
	}
	modrm := byte(0)
	if i < len(b) {
		modrm = b[i]
	}
	reg, rm, direct := modrm>>3&7|rex<<1&8, modrm&7|rex<<3&8, modrm>>6 == 3
	low := op&7 | rex<<3&8
	switch {
	case table == 0 && op&0xf8 == 0x50: // PUSH
		out.Stores = 1 << low
	case table == 0 && op == 0xff && reg&7 == 6 && direct:
		out.Stores = 1 << rm
	case table == 0 && op == 0x60: // PUSHA of 32-bit code
		out.Stores = 0xff
	case table == 0 && op&0xf8 == 0x58: // POP
		out.Loads = 1 << low
	case table == 0 && op == 0x8f && direct:
		out.Loads = 1 << rm
	case table == 0 && op == 0xc9: // LEAVE
		out.Loads = 1 << rbp
	case table == 0 && op == 0x61: // POPA
		out.Loads = 0xff
	case table == 0 && op == 0x89: // MOV from a register
		if out.Stores = 1 << reg; direct {
			out.From, out.To = reg, rm
		}
	case table == 0 && op == 0x8b:
		if out.Loads = 1 << reg; direct {
			out.Loads, out.Stores, out.From, out.To = 0, 1<<rm, rm, reg
		}
	case table == 0 && op == 0x87: // XCHG
		if out.Stores, out.Loads = 1<<reg, 1<<reg; direct {
			out.Stores |= 1 << rm
			out.Loads |= 1 << rm
		}
	case table == 0 && op&0xf8 == 0x90: // XCHG with RAX
		out.Stores, out.Loads = 1<<low|1, 1<<low|1
	case table == 1 && op == 0x6e && direct, table == 3 && op == 0x22 && direct: // MOVQ, PINSRQ from a register
		out.Stores = 1 << rm
	case table == 1 && op == 0x7e && direct, table == 3 && op == 0x16 && direct: // MOVQ, PEXTRQ to one
		out.Loads = 1 << rm
	case table == 1 && op&0xf0 == 0x40: // CMOVcc
		if out.Loads = 1 << reg; direct {
			out.Loads, out.Stores, out.From, out.To = 0, 1<<rm, rm, reg
		}
	}
	return out
}
