package disasm

import "strconv"

// generalNames are the general registers, by their size in bytes.
var generalNames = [9][16]string{
	1: {"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil", "r8b", "r9b", "r10b", "r11b", "r12b", "r13b", "r14b", "r15b"},
	2: {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di", "r8w", "r9w", "r10w", "r11w", "r12w", "r13w", "r14w", "r15w"},
	4: {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "r8d", "r9d", "r10d", "r11d", "r12d", "r13d", "r14d", "r15d"},
	8: {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"},
}

// highBytes are the registers 4 to 7 of one byte in an instruction without REX.
var highBytes = [4]string{"ah", "ch", "dh", "bh"}

var segmentNames = [8]string{"es", "cs", "ss", "ds", "fs", "gs", "?", "?"}

// register returns the name of a register of a class.
func (t *x86Text) register(class, n byte) string {
	name := func(prefix string, n byte) string { return t.percent() + prefix + strconv.Itoa(int(n)) }
	switch class {
	case 'b':
		if t.encoding == legacy {
			if n&12 == 4 {
				t.useREX(0)
			}
			if t.rex == 0 && n >= 4 && n < 8 {
				return t.percent() + highBytes[n-4]
			}
		}
		return t.general(1, n)
	case 'w':
		return t.general(2, n)
	case 'd':
		return t.general(4, n)
	case 'q':
		return t.general(8, n)
	case 'v':
		return t.general(t.sizeV(), n)
	case 'z':
		return t.general(t.sizeZ(), n)
	case 'y':
		return t.general(t.sizeY(), n)
	case '8':
		return t.general(t.size8(), n)
	case 'X':
		return name("xmm", n)
	case 'Y':
		return name("ymm", n)
	case 'Z':
		return name("zmm", n)
	case 'x':
		return name([...]string{"xmm", "ymm", "zmm"}[t.bits], n)
	case 'h':
		return name([...]string{"xmm", "xmm", "ymm"}[t.bits], n)
	case 'f':
		return name("xmm", n)
	case 'k':
		return name("k", n&7)
	case 'm':
		return name("mm", n&7)
	case 't':
		return name("tmm", n&7)
	case 'n':
		return name("bnd", n&3)
	case 's':
		return t.percent() + segmentNames[n&7]
	case 'c':
		return name("cr", n&15)
	case 'g':
		if t.syntax == ATT {
			return name("db", n&15)
		}
		return name("dr", n&15)
	}
	return "?"
}

func (t *x86Text) general(size int, n byte) string { return t.percent() + generalNames[size][n&15] }

// addressRegister returns a register of an address.
func (t *x86Text) addressRegister(n byte) string {
	if t.lastAddr >= 0 {
		return t.general(4, n)
	}
	return t.general(8, n)
}

// segment returns the segment override with a colon, or "".
func (t *x86Text) segment() string {
	if t.activeSeg < 0 {
		return ""
	}
	t.use(t.lastSeg)
	return t.percent() + segmentName(t.code[t.activeSeg]) + ":"
}

// memory returns an operand in memory.
func (t *x86Text) memory(o *operand) string {
	t.useREX(rexB)
	t.use(t.lastAddr)
	size := ""
	if t.syntax == Intel {
		size = t.sizeName(o)
	} else if o.mem != noMemory {
		t.memoryBytes(o.mem)
	}
	s := size + t.location(o)
	if t.encoding == evex && t.b && o.broadcast != 0 && (t.syntax == ATT || t.entry.flags&countsInText != 0) {
		s += "{1to" + strconv.Itoa(t.memoryBytes(o.mem)/int(o.broadcast)) + "}"
	}
	return s
}

// sizeName returns Intel's name of the size of memory.
func (t *x86Text) sizeName(o *operand) string {
	if t.encoding == evex && t.b && o.broadcast != 0 {
		return [...]string{2: "WORD", 4: "DWORD", 8: "QWORD"}[o.broadcast] + " BCST "
	}
	if o.mem == noMemory {
		return ""
	}
	if o.mem == 'o'|memClass {
		return "OWORD PTR "
	}
	switch t.memoryBytes(o.mem) {
	case 1:
		return "BYTE PTR "
	case 2:
		return "WORD PTR "
	case 4:
		return "DWORD PTR "
	case 6:
		return "FWORD PTR "
	case 8:
		return "QWORD PTR "
	case 10:
		return "TBYTE PTR "
	case 16:
		return "XMMWORD PTR "
	case 32:
		return "YMMWORD PTR "
	case 64:
		return "ZMMWORD PTR "
	}
	return ""
}

// location returns the address of a memory operand.
func (t *x86Text) location(o *operand) string {
	base, index := "", ""
	switch {
	case t.mod == 0 && t.rm == 5:
		base = t.percent() + "rip"
		if t.lastAddr >= 0 {
			base = t.percent() + "eip"
		}
		t.hasComment = true
		t.comment = t.pc + uint64(t.length) + uint64(t.displacement)
	case t.mod == 0 && t.base == 5: // SIB without a base
	default:
		base = t.addressRegister(t.base | t.rex&rexB<<3)
	}
	if t.hasSIB {
		t.useREX(rexX)
		index = t.indexName(o, base)
	}
	if t.syntax == Intel {
		return t.intelLocation(base, index)
	}
	s := t.segment()
	if t.displacementN != 0 {
		s += t.hexadecimal(base == "" && index == "")
	}
	if base == "" && index == "" {
		return s
	}
	s += "(" + base
	if index != "" {
		s += "," + index + "," + strconv.Itoa(1<<t.scale)
	}
	return s + ")"
}

// indexName returns the index of SIB, or "". The pseudo register riz shows an absent index that an
// assembler would not have made.
func (t *x86Text) indexName(o *operand, base string) string {
	n := t.index | t.rex&rexX<<2
	if o.place == 'N' {
		return t.register(o.class, n|t.high&0x20>>1)
	}
	if n != 4 {
		return t.addressRegister(n)
	}
	if t.base == 4 && t.scale == 0 || base == "" && t.scale == 0 && t.lastAddr < 0 {
		return ""
	}
	if t.lastAddr >= 0 {
		return t.percent() + "eiz"
	}
	return t.percent() + "riz"
}

// hexadecimal returns the displacement: signed, or as an address.
func (t *x86Text) hexadecimal(isAddress bool) string {
	d := t.displacement
	switch {
	case isAddress && t.lastAddr >= 0 && !t.hasComment:
		return "0x" + strconv.FormatUint(uint64(uint32(d)), 16)
	case isAddress:
		return "0x" + strconv.FormatUint(uint64(d), 16)
	case d < 0:
		return "-0x" + strconv.FormatUint(uint64(-d), 16)
	}
	return "0x" + strconv.FormatInt(d, 16)
}

// intelLocation returns an address in brackets.
func (t *x86Text) intelLocation(base, index string) string {
	s := t.segment()
	if base == "" && index == "" {
		if s == "" {
			s = "ds:"
		}
		return s + t.hexadecimal(true)
	}
	s += "[" + base
	if index != "" {
		if base != "" {
			s += "+"
		}
		s += index + "*" + strconv.Itoa(1<<t.scale)
	}
	if t.displacementN != 0 {
		d := t.hexadecimal(t.hasComment) // objdump shows a distance from rip as unsigned
		if d[0] != '-' {
			d = "+" + d
		}
		s += d
	}
	return s + "]"
}

// absolute returns the address in the instruction of movabs.
func (t *x86Text) absolute(o *operand) string {
	a := uint64(t.immediates[0])
	if t.lastAddr >= 0 {
		a = uint64(uint32(a))
	}
	s := t.segment()
	if s == "" && t.syntax == Intel {
		s = "ds:"
	}
	return s + "0x" + strconv.FormatUint(a, 16)
}

// atRegister returns the memory operand of a string instruction or xlat.
func (t *x86Text) atRegister(o *operand, n byte) string {
	t.use(t.lastAddr)
	s := t.percent() + "es:"
	if o.place == 'X' {
		t.use(t.lastSeg)
		if s = t.segment(); s == "" {
			s = t.percent() + "ds:"
		}
	}
	size := t.sizeName(&operand{mem: o.mem})
	if o.class == 'x' { // xlat
		n, size = 3, "BYTE PTR "
	}
	r := t.addressRegister(n)
	if t.syntax == Intel {
		return size + s + "[" + r + "]"
	}
	return s + "(" + r + ")"
}
