package emulate

// The tables below have a digit for each opcode, and a row for each high half of the opcode. The
// digit tells with which prefix, or pp field, the instruction may be displaced:
//
//	1  none
//	2  66
//	4  F3
//	8  F2
//
// or the sum of them, in hexadecimal. A dot stands for an instruction that may not be displaced: it
// depends on its address, it is privileged, it is one of MMX or x87, or it is not defined. Columns
// are those of SDM volume 2, tables, and of the VEX and EVEX forms in chapters 3 to 5.
const displace1Byte = "" +
	"333333..333333.." + // 0
	"333333..333333.." + // 1
	"333333..333333.." + // 2
	"333333..333333.." + // 3
	"................" + // 4
	"3333333333333333" + // 5
	"...3....3333...." + // 6: INS and OUTS are privileged
	"................" + // 7: branches
	"33.333333333.3.3" + // 8: 8c and 8e have segment registers
	"3333333333....33" + // 9: PUSHF and POPF have the trap flag
	"3333333333333333" + // a: strings without REP
	"3333333333333333" + // b
	"33....3311......" + // c
	"3333...3.1......" + // d: d9 is FLDCW and FNSTCW
	"................" + // e: branches, IN, OUT
	".....33333..3333" //   f

const displace0F = "" +
	".............1.." + // 0
	"fff333731.....43" + // 1
	"........33c3cc33" + // 2
	"................" + // 3
	"3333333333333333" + // 4
	"3f553333fff7ffff" + // 5
	"2222222222222226" + // 6
	"e222222.....aa66" + // 7
	"................" + // 8: branches
	"3333333333333333" + // 9
	"...333.....33313" + // a
	"33.3..334.337733" + // b
	"33f1223111111111" + // c
	"a222222222222222" + // d
	"222222e222222222" + // e
	"822222222222222." //   f

const displace0F38 = "" +
	"222222222222...." + // 0
	"2...22.2....222." + // 1
	"222222..2222...." + // 2
	"222222.222222222" + // 3
	"22.............." + // 4
	"................" + // 5
	"................" + // 6
	"................" + // 7
	"................" + // 8
	"................" + // 9
	"................" + // a
	"................" + // b
	"........111111.2" + // c
	"...........22222" + // d
	"................" + // e
	"bb....6........." //   f

const displace0F3A = "" +
	"........22222222" + // 0
	"....2222........" + // 1
	"222............." + // 2
	"................" + // 3
	"222.2..........." + // 4
	"................" + // 5
	"2222............" + // 6
	"................" + // 7
	"................" + // 8
	"................" + // 9
	"................" + // a
	"................" + // b
	"............1.22" + // c
	"...............2" + // d
	"................" + // e
	"................" //   f

const displaceVEX0F = "" +
	"................" + // 0
	"fff33373........" + // 1
	"........33c3cc33" + // 2
	"................" + // 3
	".33.3333..33...." + // 4: masks
	"3f553333fff7ffff" + // 5
	"2222222222222226" + // 6
	"e2222221....aa66" + // 7
	"................" + // 8
	"33bb....33......" + // 9: masks
	"..............1." + // a
	"................" + // b
	"..f.223........." + // c
	"a222222222222222" + // d
	"222222e222222222" + // e
	"822222222222222." //   f

const displaceVEX0F38 = "" +
	"2222222222222222" + // 0
	"...2..22222.222." + // 1
	"222222..22222222" + // 2
	"2222222222222222" + // 3
	"22...222........" + // 4
	"2222....222....." + // 5
	"................" + // 6
	"........22......" + // 7
	"............2.2." + // 8
	"2222..2222222222" + // 9
	"......2222222222" + // a
	"......2222222222" + // b
	"...............2" + // c
	"...........22222" + // d
	"................" + // e
	"..11.d8f........" //   f

const displaceVEX0F3A = "" +
	"222.222.22222222" + // 0
	"....222222...2.." + // 1
	"222............." + // 2
	"2222....22......" + // 3
	"222.2.2...222..." + // 4
	"................" + // 5
	"2222............" + // 6
	"................" + // 7
	"................" + // 8
	"................" + // 9
	"................" + // a
	"................" + // b
	"..............22" + // c
	"...............2" + // d
	"................" + // e
	"8..............." //   f

const displaceEVEX0F = "" +
	"................" + // 0
	"fff33373........" + // 1
	"........33c3cc33" + // 2
	"................" + // 3
	"................" + // 4
	".f..3333fff7ffff" + // 5
	"222222222222222e" + // 6
	"e222222.ffee..6e" + // 7
	"................" + // 8
	"................" + // 9
	"................" + // a
	"................" + // b
	"..f.223........." + // c
	".222222.22222222" + // d
	"222222e222222222" + // e
	".222222.2222222." //   f

const displaceEVEX0F38 = "" +
	"2...2......222.." + // 0
	"6666662.22222222" + // 1
	"66666666666222.." + // 2
	"6666662266622222" + // 3
	"2.222222....2222" + // 4
	"226222..2222...." + // 5
	"..22222.8......." + // 6
	"22e2.22222222222" + // 7
	"...2....2222.2.2" + // 8
	"2222..2222222222" + // 9
	"2222..2222222222" + // a
	"....222222222222" + // b
	"....2..........2" + // c
	"............2222" + // d
	"................" + // e
	"................" //   f

const displaceEVEX0F3A = "" +
	"22.222..2222...2" + // 0
	"....22222222.222" + // 1
	"2222.222........" + // 2
	"........2222..22" + // 3
	"..222..........." + // 4
	"22..2222........" + // 5
	"......22........" + // 6
	"2222............" + // 7
	"................" + // 8
	"................" + // 9
	"................" + // a
	"................" + // b
	"..............22" + // c
	"................" + // d
	"................" + // e
	"................" //   f

var displaceTables = [...][4]string{
	legacy: {map1Byte: displace1Byte, map0F: displace0F, map0F38: displace0F38, map0F3A: displace0F3A},
	vex:    {map0F: displaceVEX0F, map0F38: displaceVEX0F38, map0F3A: displaceVEX0F3A},
	xop:    {},
	evex:   {map0F: displaceEVEX0F, map0F38: displaceEVEX0F38, map0F3A: displaceEVEX0F3A},
}

// displaceTable returns the table of a map, or "" if it has none.
func displaceTable(s scheme, m opcodeMap) string {
	if int(m) >= len(displaceTables[s]) {
		return ""
	}
	return displaceTables[s][m]
}

type opcode struct {
	opmap opcodeMap
	value byte
}

// forms has the values of ModRM.reg that may be displaced, one bit each, for operands in memory and
// in a register.
type forms struct{ memory, register uint8 }

// displaceGroups are the opcodes that ModRM.reg extends: SDM volume 2, table A-6.
var displaceGroups = map[opcode]forms{
	{map1Byte, 0x8f}: {1 << 0, 1 << 0},
	{map1Byte, 0xc0}: {0xff &^ (1 << 6), 0xff &^ (1 << 6)}, // Group 2: 6 is not documented.
	{map1Byte, 0xc1}: {0xff &^ (1 << 6), 0xff &^ (1 << 6)},
	{map1Byte, 0xd0}: {0xff &^ (1 << 6), 0xff &^ (1 << 6)},
	{map1Byte, 0xd1}: {0xff &^ (1 << 6), 0xff &^ (1 << 6)},
	{map1Byte, 0xd2}: {0xff &^ (1 << 6), 0xff &^ (1 << 6)},
	{map1Byte, 0xd3}: {0xff &^ (1 << 6), 0xff &^ (1 << 6)},
	{map1Byte, 0xc6}: {1 << 0, 1 << 0}, // 7 is XABORT.
	{map1Byte, 0xc7}: {1 << 0, 1 << 0}, // 7 is XBEGIN.
	{map1Byte, 0xd9}: {1<<5 | 1<<7, 0}, // FLDCW, FNSTCW: the others save their own address.
	{map1Byte, 0xf6}: {0xff &^ (1 << 1), 0xff &^ (1 << 1)},
	{map1Byte, 0xf7}: {0xff &^ (1 << 1), 0xff &^ (1 << 1)},
	{map1Byte, 0xfe}: {1<<0 | 1<<1, 1<<0 | 1<<1},
	{map1Byte, 0xff}: {1<<0 | 1<<1 | 1<<6, 1<<0 | 1<<1 | 1<<6}, // The others branch.
	{map0F, 0x0d}:    {1<<0 | 1<<1 | 1<<2, 0},
	{map0F, 0x18}:    {1<<0 | 1<<1 | 1<<2 | 1<<3, 0},
	{map0F, 0x1e}:    {0, 1 << 7},
	{map0F, 0x71}:    {0, 1<<2 | 1<<4 | 1<<6},
	{map0F, 0x72}:    {0, 1<<2 | 1<<4 | 1<<6},
	{map0F, 0x73}:    {0, 1<<2 | 1<<3 | 1<<6 | 1<<7},
	{map0F, 0xae}:    {1<<2 | 1<<3, 0}, // LDMXCSR, STMXCSR
	{map0F, 0xba}:    {1<<4 | 1<<5 | 1<<6 | 1<<7, 1<<4 | 1<<5 | 1<<6 | 1<<7},
	{map0F, 0xc7}:    {1 << 1, 0},                              // CMPXCHG8B, CMPXCHG16B
	{map0F38, 0xf3}:  {1<<1 | 1<<2 | 1<<3, 1<<1 | 1<<2 | 1<<3}, // BLSR, BLSMSK, BLSI
}

// lockable has the values of ModRM.reg with which an opcode may have the prefix LOCK: SDM volume 2,
// LOCK.
var lockable = map[opcode]uint8{
	{map1Byte, 0x00}: 0xff, {map1Byte, 0x01}: 0xff, // ADD
	{map1Byte, 0x08}: 0xff, {map1Byte, 0x09}: 0xff, // OR
	{map1Byte, 0x10}: 0xff, {map1Byte, 0x11}: 0xff, // ADC
	{map1Byte, 0x18}: 0xff, {map1Byte, 0x19}: 0xff, // SBB
	{map1Byte, 0x20}: 0xff, {map1Byte, 0x21}: 0xff, // AND
	{map1Byte, 0x28}: 0xff, {map1Byte, 0x29}: 0xff, // SUB
	{map1Byte, 0x30}: 0xff, {map1Byte, 0x31}: 0xff, // XOR
	{map1Byte, 0x80}: 0x7f, {map1Byte, 0x81}: 0x7f, {map1Byte, 0x83}: 0x7f, // Group 1 without CMP
	{map1Byte, 0x86}: 0xff, {map1Byte, 0x87}: 0xff, // XCHG
	{map1Byte, 0xf6}: 1<<2 | 1<<3, {map1Byte, 0xf7}: 1<<2 | 1<<3, // NOT, NEG
	{map1Byte, 0xfe}: 1<<0 | 1<<1, {map1Byte, 0xff}: 1<<0 | 1<<1, // INC, DEC
	{map0F, 0xab}: 0xff, {map0F, 0xb3}: 0xff, {map0F, 0xbb}: 0xff, // BTS, BTR, BTC
	{map0F, 0xb0}: 0xff, {map0F, 0xb1}: 0xff, // CMPXCHG
	{map0F, 0xba}: 1<<5 | 1<<6 | 1<<7,        // BTS, BTR, BTC
	{map0F, 0xc0}: 0xff, {map0F, 0xc1}: 0xff, // XADD
	{map0F, 0xc7}: 1 << 1, // CMPXCHG8B, CMPXCHG16B
}
