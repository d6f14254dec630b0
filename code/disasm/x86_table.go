package disasm

import (
	_ "embed" // the tables of opcodes
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// The tables have one line for each opcode, in the order in which they are tried:
//
//	MAP PREFIX OPCODE[/REG] [CONDITIONS] NAME[|INTEL] OPERANDS [FLAGS]
//
// MAP is 1, 0f, 0f38, 0f3a, vex0f… evexmap6. PREFIX is the mandatory prefix: np, 66, f3, f2, or *
// where any prefix has its usual meaning. REG is the reg field of ModRM. The conditions are W0, W1
// (REX.W or its VEX form), L0 to L2 (one digit for each vector length that is allowed), r or m (a
// register or memory in ModRM), rip, rm0 to rm7.
//
// NAME ends in a mark where AT&T syntax has a suffix for the size: * only with memory, % and + always,
// # for 16 or 32 bits, & w with a prefix 66 alone, ^ s or w with it. Three names with slashes are for
// 16, 32 and 64 bits. An operand is a letter for its place and a letter for its size or class, then
// the size of memory, such as Wx:xb4: see operand.
//
// The general table was written from the opcode maps of the manuals. The lines of the vector table
// were derived by asking objdump 2.40 about every opcode with each prefix, W and length.
//
//go:embed x86_general.txt
var generalTable string

//go:embed x86_vector.txt
var vectorTable string

// opcodeMap is a space of 256 opcodes.
type opcodeMap uint8

const (
	mapOne opcodeMap = iota
	map0F
	map0F38
	map0F3A
	mapVEX0F
	mapVEX0F38
	mapVEX0F3A
	mapXOP8
	mapXOP9
	mapXOPA
	mapEVEX0F
	mapEVEX0F38
	mapEVEX0F3A
	mapEVEX5
	mapEVEX6
	opcodeMaps
)

var mapNames = [opcodeMaps]string{"1", "0f", "0f38", "0f3a", "vex0f", "vex0f38", "vex0f3a", "xop8", "xop9", "xopa",
	"evex0f", "evex0f38", "evex0f3a", "evexmap5", "evexmap6"}

// prefixMatch is the mandatory prefix of an entry.
type prefixMatch uint8

const (
	anyPrefix prefixMatch = iota
	noPrefix
	prefix66
	prefixF3
	prefixF2
)

// operand is one operand of an entry, in the order of Intel syntax.
type operand struct {
	// place is where the operand is encoded: V (ModRM.reg), W (ModRM.rm, a register or memory),
	// M (memory), N (memory with a vector of indices), H (VEX.vvvv), L (bits 4 to 7 of the
	// immediate), Z (the low bits of the opcode), I (an immediate), J (a branch target), O (an
	// absolute address), X and Y (at rsi, at rdi), F (a fixed register).
	place byte
	// class is the class of a register: b w d q (8 to 64 bits), v (16, 32 or 64), z (16 or 32),
	// y (32 or 64), 8 (16 or 64), X Y Z (xmm, ymm, zmm), x h f (the vector length, a half and a
	// fourth of it), k m t n (mask, MMX, tile, bound), s c g (segment, control, debug), i (x87).
	// For an immediate it is the encoding: b w z v, s (a byte that is sign-extended).
	class byte
	// mem is the size of memory: a number of bytes, or a class v w x h f e y 8 p with the high bit.
	mem byte
	// scale is the factor of an EVEX disp8 if it is not mem.
	scale byte
	// broadcast is the size of an element that may be broadcast, or 0.
	broadcast byte
	name      string // of a fixed register
}

const (
	memClass = 0x80
	noMemory = 0
)

type entryFlags uint16

const (
	isBranch     entryFlags = 1 << iota // a near branch: F2 is bnd, 2E and 3E are hints
	isIndirect                          // its operand has a star in AT&T syntax
	isRep                               // F3 is rep
	isRepz                              // F3 is repz
	isImplied                           // Intel syntax has no operands
	usesData                            // a prefix 66 selects the entry, whatever it has
	inOrder                             // AT&T syntax does not reverse the operands
	hasEVEXName                         // {evex}: a VEX form exists
	hasVEXName                          // {vex}: the EVEX form is the usual one
	hasRounding                         // EVEX.b with a register is the rounding mode
	hasSAE                              // EVEX.b with a register suppresses exceptions
	countsInText                        // Intel syntax has {1toN} after a broadcast
	hasModRM
	sizeFromW // the entry uses W
)

// entry is one line of the table.
type entry struct {
	att, intel string
	broadcast  string // AT&T's name with a broadcast, if it differs
	operands   [5]operand
	count      uint8
	prefix     prefixMatch
	w          int8    // -1: any
	lengths    uint8   // a bit for each L, 0: any
	form       byte    // 0, 'r' (a register), 'm' (memory) or 'i' (memory at rip)
	reg, rm    int8    // -1: any
	round      uint8   // the place of {rn-sae} among the operands
	immediates [2]byte // their classes
	flags      entryFlags
}

type opcodeTable [opcodeMaps][256][]entry

// table is compiled when the first instruction is decoded. A line that is malformed is an error of
// the program: a test compiles every line.
var table = sync.OnceValue(compileTable)

func compileTable() *opcodeTable {
	t := new(opcodeTable)
	for _, text := range []string{generalTable, vectorTable} {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
				continue
			}
			m, op, e, err := parseEntry(line)
			if err != nil {
				panic(fmt.Sprintf("disasm: %q: %v", line, err))
			}
			t[m][op] = append(t[m][op], e)
		}
	}
	return t
}

func parseEntry(line string) (m opcodeMap, op byte, e entry, err error) {
	f := strings.Fields(line)
	if len(f) < 5 {
		return m, op, e, fmt.Errorf("too few fields")
	}
	for m = 0; m < opcodeMaps && mapNames[m] != f[0]; m++ {
	}
	if m == opcodeMaps {
		return m, op, e, fmt.Errorf("unknown map")
	}
	prefix := strings.Index("* np66f3f2", f[1])
	if prefix < 0 {
		return m, op, e, fmt.Errorf("unknown prefix")
	}
	e = entry{prefix: prefixMatch(prefix / 2), w: -1, reg: -1, rm: -1}
	code, reg, grouped := strings.Cut(f[2], "/")
	n, err := strconv.ParseUint(code, 16, 8)
	if err != nil {
		return m, op, e, err
	}
	op = byte(n)
	if grouped {
		e.reg = int8(reg[0] - '0')
		e.flags |= hasModRM
	}
	f = f[3:]
	for ; len(f) > 2; f = f[1:] {
		if !e.condition(f[0]) {
			break
		}
	}
	e.att, e.intel, _ = strings.Cut(strings.ReplaceAll(f[0], "_", " "), "|")
	if e.intel == "" {
		e.intel = e.att
	}
	if f[1] != "-" {
		for _, text := range strings.Split(f[1], ",") {
			o, err := parseOperand(text)
			if err != nil {
				return m, op, e, err
			}
			e.operands[e.count] = o
			e.count++
			switch o.place {
			case 'V', 'W', 'M', 'N':
				e.flags |= hasModRM
			}
		}
	}
	e.findImmediates()
	if e.form != 0 || e.rm >= 0 || m >= mapVEX0F && !(m == mapVEX0F && op == 0x77) {
		e.flags |= hasModRM
	}
	for _, flag := range f[2:] {
		if err := e.flag(flag); err != nil {
			return m, op, e, err
		}
	}
	return m, op, e, nil
}

// condition reads one condition of a line and reports whether it is one.
func (e *entry) condition(s string) bool {
	switch {
	case s == "r" || s == "m":
		e.form = s[0]
	case s == "rip":
		e.form = 'i'
	case s == "W0" || s == "W1":
		e.w = int8(s[1] - '0')
	case s[0] == 'L' && strings.Trim(s[1:], "012") == "":
		for _, c := range s[1:] {
			e.lengths |= 1 << (c - '0')
		}
	case len(s) == 3 && s[:2] == "rm":
		e.rm = int8(s[2] - '0')
	default:
		return false
	}
	return true
}

var flagNames = map[string]entryFlags{
	"branch": isBranch, "star": isIndirect, "rep": isRep, "repz": isRepz, "inorder": inOrder, "data": usesData, "implied": isImplied,
	"v": hasEVEXName, "V": hasVEXName, "r": hasRounding, "s": hasSAE, "x": countsInText,
}

func (e *entry) flag(s string) error {
	switch {
	case s[0] == '=':
		e.broadcast = s[1:]
	case s[0] == '@':
		e.round = s[1] - '0'
	case flagNames[s] != 0:
		e.flags |= flagNames[s]
	default:
		return fmt.Errorf("unknown flag %s", s)
	}
	return nil
}

// findImmediates notes what follows the operands in memory. A register in an immediate and a small
// number share one byte.
func (e *entry) findImmediates() {
	n := 0
	for _, o := range e.operands[:e.count] {
		switch {
		case o.place == 'L':
			e.immediates[0] = 'b'
			return
		case o.place == 'I' || o.place == 'J':
			e.immediates[n] = o.class
			if o.place == 'J' && o.class == 'z' {
				e.immediates[n] = 'j'
			}
			n++
		case o.place == 'O':
			e.immediates[n] = 'o'
			n++
		}
	}
}

// fixedRegisters have names of their own in the table.
var fixedRegisters = map[string]byte{
	"al": 'b', "ax": 'w', "eax": 'd', "rax": 'q', "cl": 'b', "dx": 'w', "ecx": 'd', "edx": 'd', "ebx": 'd', "rAX": 'v', "zAX": 'z',
	"fs": 's', "gs": 's', "xmm0": 'X', "st": 'i', "sti": 'i', "one": '1',
}

func parseOperand(s string) (operand, error) {
	if class := fixedRegisters[s]; class != 0 {
		return operand{place: 'F', class: class, name: s}, nil
	}
	var o operand
	head, size, hasSize := strings.Cut(s, ":")
	if len(head) > 2 {
		return o, fmt.Errorf("operand %s", s)
	}
	o.place = head[0]
	if len(head) == 2 {
		o.class = head[1]
	}
	switch o.place {
	case 'E': // W, and memory of the same size
		o.place, o.mem = 'W', memoryOfClass(o.class)
	case 'M':
		if o.class != 0 {
			o.mem = memoryOfClass(o.class)
		}
	case 'G':
		o.place = 'V'
	case 'S':
		o.place, o.class = 'V', 's'
	case 'C':
		o.place, o.class = 'V', 'c'
	case 'D':
		o.place, o.class = 'V', 'g'
	case 'X', 'Y':
		o.mem = memoryOfClass(o.class)
	}
	if !hasSize {
		return o, nil
	}
	if size, bc, ok := strings.Cut(size, "b"); ok {
		o.broadcast = bc[0] - '0'
		return o, o.sizes(size)
	}
	return o, o.sizes(size)
}

// sizes reads the size of memory and, after a slash, the factor of disp8.
func (o *operand) sizes(s string) error {
	size, scale, ok := strings.Cut(s, "/")
	var err error
	if o.mem, err = memorySize(size); err == nil && ok {
		o.scale, err = memorySize(scale)
	}
	return err
}

func memorySize(s string) (byte, error) {
	if len(s) == 1 && s[0] >= 'a' {
		return s[0] | memClass, nil
	}
	n, err := strconv.ParseUint(s, 10, 7)
	return byte(n), err
}

func memoryOfClass(c byte) byte {
	switch c {
	case 'b':
		return 1
	case 'w':
		return 2
	case 'd':
		return 4
	case 'q':
		return 8
	}
	return c | memClass
}
