package emulate

// The tables below have one letter for each opcode, which tells the fields after it, and a row for
// each high half of the opcode: SDM volume 2, tables.
//
//	.  none
//	m  ModRM
//	M  ModRM, 8-bit immediate
//	Z  ModRM, immediate of 16 or 32 bits
//	3  ModRM, and for TEST an immediate (group 3)
//	b  8-bit immediate
//	w  16-bit immediate
//	e  16-bit and 8-bit immediate
//	z  immediate of 16 or 32 bits
//	v  immediate of 16, 32 or 64 bits
//	o  address of 64 bits, or of 32 bits with prefix 67
//	r  8-bit branch distance
//	j  32-bit branch distance
//	p  a prefix
//	2  leads to the two-byte map
//	V  VEX or EVEX
//	x  invalid in 64-bit mode, or unknown
const fields1Byte = "" +
	"mmmmbzxxmmmmbzx2" + // 0
	"mmmmbzxxmmmmbzxx" + // 1
	"mmmmbzpxmmmmbzpx" + // 2
	"mmmmbzpxmmmmbzpx" + // 3
	"pppppppppppppppp" + // 4: REX
	"................" + // 5
	"xxVmppppzZbM...." + // 6
	"rrrrrrrrrrrrrrrr" + // 7
	"MZxMmmmmmmmmmmmm" + // 8: 8f may also be XOP
	"..........x....." + // 9
	"oooo....bz......" + // a
	"bbbbbbbbvvvvvvvv" + // b
	"MMw.VVMZe.w..bx." + // c
	"mmmmxxx.mmmmmmmm" + // d
	"rrrrbbbbjjxr...." + // e
	"p.pp..33......mm" //   f

const fields0F = "" +
	"mmmmx.....x.xmxx" + // 0
	"mmmmmmmmmmmmmmmm" + // 1
	"mmmmxxxxmmmmmmmm" + // 2
	"......x.xxxxxxxx" + // 3
	"mmmmmmmmmmmmmmmm" + // 4
	"mmmmmmmmmmmmmmmm" + // 5
	"mmmmmmmmmmmmmmmm" + // 6
	"MMMMmmm.xxxxmmmm" + // 7
	"jjjjjjjjjjjjjjjj" + // 8
	"mmmmmmmmmmmmmmmm" + // 9
	"...mMmxx...mMmmm" + // a
	"mmmmmmmmmmMmmmmm" + // b
	"mmMmMMMm........" + // c
	"mmmmmmmmmmmmmmmm" + // d
	"mmmmmmmmmmmmmmmm" + // e
	"mmmmmmmmmmmmmmmm" //   f
