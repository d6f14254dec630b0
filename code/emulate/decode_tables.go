package emulate

// addressing is where an operand is, in the letters of SDM volume 2, appendix A.2.1.
type addressing uint8

const (
	none addressing = iota
	E               // ModRM.rm: a register or memory
	G               // ModRM.reg
	M               // ModRM.rm: memory only
	R               // ModRM.rm: a register only
	Z               // the low three bits of the opcode
	I               // the immediate
	J               // the distance of a branch
	O               // the memory at the address in the immediate
	A               // AL, AX, EAX or RAX
	D               // DX, EDX or RDX
	CL
	one // the number 1
)

// width is the size of the operands.
type width uint8

const (
	b width = iota // 8 bits
	v              // 16, 32 or 64 bits: by prefix 66 and REX.W
)

// encoding is an entry of an opcode map.
type encoding struct {
	kind     kind
	dst, src addressing
	width    width
}

// oneByte is SDM volume 2, table A-2. Where all entries of a row have the same form, init fills it.
var oneByte = [256]encoding{
	0x00: {add, E, G, b}, 0x01: {add, E, G, v}, 0x02: {add, G, E, b}, 0x03: {add, G, E, v}, 0x04: {add, A, I, b}, 0x05: {add, A, I, v},
	0x08: {or, E, G, b}, 0x09: {or, E, G, v}, 0x0a: {or, G, E, b}, 0x0b: {or, G, E, v}, 0x0c: {or, A, I, b}, 0x0d: {or, A, I, v},
	0x10: {adc, E, G, b}, 0x11: {adc, E, G, v}, 0x12: {adc, G, E, b}, 0x13: {adc, G, E, v}, 0x14: {adc, A, I, b}, 0x15: {adc, A, I, v},
	0x18: {sbb, E, G, b}, 0x19: {sbb, E, G, v}, 0x1a: {sbb, G, E, b}, 0x1b: {sbb, G, E, v}, 0x1c: {sbb, A, I, b}, 0x1d: {sbb, A, I, v},
	0x20: {and, E, G, b}, 0x21: {and, E, G, v}, 0x22: {and, G, E, b}, 0x23: {and, G, E, v}, 0x24: {and, A, I, b}, 0x25: {and, A, I, v},
	0x28: {sub, E, G, b}, 0x29: {sub, E, G, v}, 0x2a: {sub, G, E, b}, 0x2b: {sub, G, E, v}, 0x2c: {sub, A, I, b}, 0x2d: {sub, A, I, v},
	0x30: {xor, E, G, b}, 0x31: {xor, E, G, v}, 0x32: {xor, G, E, b}, 0x33: {xor, G, E, v}, 0x34: {xor, A, I, b}, 0x35: {xor, A, I, v},
	0x38: {cmp, E, G, b}, 0x39: {cmp, E, G, v}, 0x3a: {cmp, G, E, b}, 0x3b: {cmp, G, E, v}, 0x3c: {cmp, A, I, b}, 0x3d: {cmp, A, I, v},

	0x50: {push, none, Z, v}, // to 57
	0x58: {pop, Z, none, v},  // to 5f
	0x63: {movsxd, G, E, v},
	0x68: {push, none, I, v},
	0x69: {imul, G, E, v},
	0x6a: {push, none, I, v},
	0x6b: {imul, G, E, v},
	0x70: {jcc, J, none, v}, // to 7f

	0x80: {group1, E, I, b}, 0x81: {group1, E, I, v}, 0x83: {group1, E, I, v},
	0x84: {test, E, G, b}, 0x85: {test, E, G, v},
	0x86: {xchg, R, G, b}, 0x87: {xchg, R, G, v}, // With memory they lock.
	0x88: {mov, E, G, b}, 0x89: {mov, E, G, v}, 0x8a: {mov, G, E, b}, 0x8b: {mov, G, E, v},
	0x8d: {lea, G, M, v},
	0x8f: {group1A, E, none, v},
	0x90: {xchg, Z, A, v}, // to 97
	0x98: {cbw, A, A, v},
	0x99: {cwd, D, A, v},
	0xa0: {mov, A, O, b}, 0xa1: {mov, A, O, v}, 0xa2: {mov, O, A, b}, 0xa3: {mov, O, A, v},
	0xa8: {test, A, I, b}, 0xa9: {test, A, I, v},
	0xb0: {mov, Z, I, b}, // to b7
	0xb8: {mov, Z, I, v}, // to bf
	0xc0: {group2, E, I, b}, 0xc1: {group2, E, I, v},
	0xc2: {ret, none, I, v}, 0xc3: {ret, none, none, v},
	0xc6: {group11, E, I, b}, 0xc7: {group11, E, I, v},
	0xc9: {leave, none, none, v},
	0xd0: {group2, E, one, b}, 0xd1: {group2, E, one, v}, 0xd2: {group2, E, CL, b}, 0xd3: {group2, E, CL, v},
	0xe3: {jrcxz, J, none, v},
	0xe8: {call, J, none, v}, 0xe9: {jmp, J, none, v}, 0xeb: {jmp, J, none, v},
	0xf5: {cmc, none, none, v},
	0xf6: {group3, E, I, b}, 0xf7: {group3, E, I, v},
	0xf8: {clc, none, none, v}, 0xf9: {stc, none, none, v}, 0xfc: {cld, none, none, v}, 0xfd: {std, none, none, v},
	0xfe: {group4, E, none, b}, 0xff: {group5, E, none, v},
}

// twoByte is SDM volume 2, table A-3.
var twoByte = [256]encoding{
	0x0d: {nop, M, none, v}, // prefetchw
	0x18: {nop, M, none, v}, // prefetch
	0x1e: {endbr, R, none, v},
	0x1f: {nop, E, none, v},
	0x40: {cmov, G, E, v},     // to 4f
	0x80: {jcc, J, none, v},   // to 8f
	0x90: {setcc, E, none, b}, // to 9f
	0xa3: {bt, R, G, v},       // With memory it reaches beyond the operand.
	0xab: {bts, R, G, v},      // As bt.
	0xaf: {imul, G, E, v},
	0xb3: {btr, R, G, v},   // As bt.
	0xb6: {movzx, G, E, v}, // from 8 bits
	0xb7: {movzx, G, E, v}, // from 16 bits
	0xba: {group8, E, I, v},
	0xbb: {btc, R, G, v},      // As bt.
	0xbe: {movsx, G, E, v},    // from 8 bits
	0xbf: {movsx, G, E, v},    // from 16 bits
	0xc8: {bswap, Z, none, v}, // to cf
}

// groups are the opcodes that ModRM.reg extends: SDM volume 2, table A-6.
var groups = map[kind][8]kind{
	group1:  {add, or, adc, sbb, and, sub, xor, cmp},
	group1A: {0: pop},
	group2:  {0: rol, 1: ror, 4: shl, 5: shr, 7: sar},
	group3:  {0: test, 2: not, 3: neg},
	group4:  {0: inc, 1: dec},
	group5:  {0: inc, 1: dec, 2: call, 4: jmp, 6: push},
	group8:  {4: bt, 5: bts, 6: btr, 7: btc},
	group11: {0: mov},
}

// rows are the opcodes whose low bits are a register or a condition.
var rows = []struct {
	opcodes *[256]encoding
	first   int
	count   int
}{
	{&oneByte, 0x50, 8}, {&oneByte, 0x58, 8}, {&oneByte, 0x70, 16}, {&oneByte, 0x90, 8}, {&oneByte, 0xb0, 8}, {&oneByte, 0xb8, 8},
	{&twoByte, 0x40, 16}, {&twoByte, 0x80, 16}, {&twoByte, 0x90, 16}, {&twoByte, 0xc8, 8},
}

func init() {
	for _, row := range rows {
		for i := row.first; i < row.first+row.count; i++ {
			row.opcodes[i] = row.opcodes[row.first]
		}
	}
}
