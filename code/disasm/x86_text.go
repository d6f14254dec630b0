package disasm

import (
	"bytes"
	"strconv"
	"strings"
)

// x86Text makes the text of one instruction.
type x86Text struct {
	*x86Inst
	pc     uint64
	syntax Syntax
	symbol Symbolizer
	out    []byte
	// comment is the address of a RIP-relative operand.
	comment    uint64
	hasComment bool
}

// text returns the instruction as objdump prints it, with one blank after the name.
func (t *x86Text) text() string {
	if t.isLone {
		return strings.TrimSuffix(t.prefixNames(nil), " ")
	}
	if t.bad {
		return t.prefixNames(nil) + "(bad)"
	}
	e := t.entry
	t.usePrefixes(e)
	name, operands := t.name(e), e.operands[:e.count]
	if t.syntax == Intel && e.flags&isImplied != 0 {
		operands = nil
	}
	operands = t.alias(&name, operands)
	texts := make([]string, 0, 6)
	for i := range operands {
		if s := t.operand(&operands[i], i); s != "" {
			texts = append(texts, s)
		}
	}
	texts = t.rounding(e, texts)
	if t.syntax == ATT && e.flags&inOrder == 0 {
		for i, j := 0, len(texts)-1; i < j; i, j = i+1, j-1 {
			texts[i], texts[j] = texts[j], texts[i]
		}
	}
	b := append(t.out, t.prefixNames(e)...)
	b = append(b, t.pseudoPrefix(e)...)
	b = append(b, name...)
	b = append(b, t.hint(e)...)
	for i, s := range texts {
		if i == 0 {
			b = append(b, ' ')
		} else {
			b = append(b, ',')
		}
		b = append(b, s...)
	}
	if t.hasComment {
		b = append(b, "        # "...)
		b = append(b, t.address(t.comment)...)
	}
	return string(b)
}

// usePrefixes notes the prefixes that select the entry.
func (t *x86Text) usePrefixes(e *entry) {
	if t.encoding != legacy {
		return
	}
	switch e.prefix {
	case prefix66:
		t.use(t.lastData)
	case prefixF3:
		t.use(t.lastRep)
	case prefixF2:
		t.use(t.lastRepne)
	}
	if e.flags&usesData != 0 {
		t.use(t.lastData)
	}
	if e.w >= 0 {
		t.useREX(rexW)
	}
}

// prefixNames returns the names of the prefixes that the instruction does not use, each with a
// blank.
func (t *x86Text) prefixNames(e *entry) string {
	if t.prefixes == 0 {
		return ""
	}
	var b strings.Builder
	for i, c := range t.code[:t.prefixes] {
		at := int8(i)
		if t.used&(1<<i) != 0 || c == 0x9b && !t.isLone {
			continue
		}
		if c&0xf0 == 0x40 {
			if !t.bad && !t.isLone && t.rex == t.rexUsed && t.encoding == legacy {
				continue
			}
			b.WriteString(rexName(c))
		} else {
			b.WriteString(t.prefixName(c, at, e))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

func rexName(c byte) string {
	s := "rex"
	if c&15 != 0 {
		s += "."
	}
	for i, l := range "WRXB" {
		if c&(8>>i) != 0 {
			s += string(l)
		}
	}
	return s
}

// prefixName returns the name of a legacy prefix before an entry.
func (t *x86Text) prefixName(c byte, at int8, e *entry) string {
	has := func(f entryFlags) bool { return e != nil && e.flags&f != 0 }
	switch c {
	case 0xf3:
		switch {
		case at != t.lastRep:
		case has(isRep):
			return "rep"
		case t.locks(e):
			return "xrelease"
		}
		return "repz"
	case 0xf2:
		switch {
		case at != t.lastRepne:
		case has(isBranch):
			return "bnd"
		case t.lastRep < 0 && t.locks(e):
			return "xacquire"
		}
		return "repnz"
	case 0x3e:
		if at == t.lastSeg && has(isIndirect) && has(isBranch) {
			return "notrack"
		}
	case 0xf0:
		return "lock"
	case 0x9b:
		return "fwait"
	case 0x66:
		return "data16"
	case 0x67:
		return "addr32"
	}
	return segmentName(c)
}

func segmentName(c byte) string {
	switch c {
	case 0x26:
		return "es"
	case 0x2e:
		return "cs"
	case 0x36:
		return "ss"
	case 0x3e:
		return "ds"
	case 0x64:
		return "fs"
	}
	return "gs"
}

// locks reports whether F2 and F3 are hints of lock elision: with memory as the destination.
func (t *x86Text) locks(e *entry) bool {
	if e == nil || e.count == 0 || e.flags&hasModRM == 0 || t.mod == 3 || e.operands[0].mem == noMemory {
		return false
	}
	c, isLocked := t.opcode, t.lastLock >= 0
	if t.code[t.prefixes] != c { // two bytes
		return isLocked && (c == 0xba && t.reg > 4 || bytes.IndexByte([]byte{0xab, 0xb3, 0xbb, 0xb0, 0xb1, 0xc0, 0xc1, 0xc7}, c) >= 0)
	}
	switch c {
	case 0x86, 0x87: // xchg locks without the prefix
		return true
	case 0x88, 0x89, 0xc6, 0xc7:
		return t.lastRep > t.lastRepne
	case 0x80, 0x81, 0x83:
		return isLocked && t.reg != 7
	case 0xf6, 0xf7:
		return isLocked && t.reg&6 == 2
	case 0xfe, 0xff:
		return isLocked && t.reg < 2
	}
	return isLocked && c < 0x38
}

// pseudoPrefix returns {evex} or {vex}, where the encoding is not the usual one.
func (t *x86Text) pseudoPrefix(e *entry) string {
	switch {
	case e.flags&hasVEXName != 0 && t.encoding == vex:
		return "{vex} "
	case e.flags&hasEVEXName != 0 && t.encoding == evex && !t.b && !t.zero && t.mask == 0 && t.lengthLL < 2 &&
		t.high == 0 && !(t.mod == 3 && t.rex&rexX != 0):
		return "{evex} "
	}
	return ""
}

// hint returns the hint of a conditional branch.
func (t *x86Text) hint(e *entry) string {
	if t.syntax != ATT || t.lastSeg < 0 || !isConditional(e) {
		return ""
	}
	prefixes := t.code[:t.prefixes]
	not, taken := bytes.IndexByte(prefixes, 0x2e) >= 0, bytes.IndexByte(prefixes, 0x3e) >= 0
	switch {
	case not && !taken:
		return ",pn"
	case taken && !not:
		return ",pt"
	}
	return ""
}

func isConditional(e *entry) bool {
	return e.count > 0 && e.operands[0].place == 'J' && (e.att[0] == 'j' && e.att[1] != 'm' || e.att[0] == 'l')
}

// name returns the instruction's name in the syntax.
func (t *x86Text) name(e *entry) string {
	if e == &nowEntry {
		return nowNames[t.opcode]
	}
	if t.syntax == ATT && isConditional(e) && t.hint(e) != "" {
		t.use(t.lastSeg)
	}
	if t.lastSeg >= 0 && e.flags&isIndirect != 0 && e.flags&isBranch != 0 && t.code[t.lastSeg] == 0x3e {
		defer func() { t.used &^= 1 << t.lastSeg }()
	}
	name := e.att
	if e.count > 0 && t.lastAddr >= 0 {
		switch e.att {
		case "movabs":
			if e.immediates[0] == 'o' {
				return "mov"
			}
		case "jrcxz":
			t.use(t.lastAddr)
			return "jecxz"
		case "loop", "loope", "loopne":
			if t.syntax == ATT {
				t.use(t.lastAddr)
				return e.att + "l"
			}
		}
	}
	if t.hasWait && strings.HasPrefix(name, "fn") && name != "fnop" {
		return "f" + strings.TrimSuffix(name[2:], "^")
	}
	if t.syntax == Intel {
		name = e.intel
	} else if t.b && t.mod != 3 && e.broadcast != "" {
		name = e.broadcast
	}
	if a, rest, ok := strings.Cut(name, "/"); ok {
		b, c, _ := strings.Cut(rest, "/")
		return [...]string{2: a, 4: b, 8: c}[t.sizeV()]
	}
	last := len(name) - 1
	mark := name[last]
	switch mark {
	case '^':
		name = name[:last]
		if t.size8() == 2 {
			return name + [...]string{ATT: "s", Intel: "w"}[t.syntax]
		}
		return name
	case '*', '%', '+', '&', '#':
		name = name[:last]
	default:
		return name
	}
	switch {
	case mark == '&':
		if t.size8() == 2 {
			name += "w"
		}
	case t.syntax == Intel:
	case mark == '#':
		name += suffix(t.sizeZ())
	case mark == '%' || mark == '+':
		name += suffix(t.sizeV())
	case t.mod != 3:
		for i := range e.operands[:e.count] {
			if o := &e.operands[i]; o.mem != noMemory {
				switch {
				case o.mem == '8'|memClass && t.size8() == 8, o.mem == 'p'|memClass && t.sizeZ() == 4:
					return name
				case o.mem == 'p'|memClass:
					return name + "w"
				}
				return name + suffix(t.memoryBytes(o.mem))
			}
		}
	}
	return name
}

func suffix(size int) string {
	switch size {
	case 1:
		return "b"
	case 2:
		return "w"
	case 4:
		return "l"
	}
	return "q"
}

// rounding puts {rn-sae} or {sae} among the operands.
func (t *x86Text) rounding(e *entry, texts []string) []string {
	if t.encoding != evex || !t.b || t.mod != 3 || e.flags&(hasRounding|hasSAE) == 0 {
		return texts
	}
	s := "{sae}"
	if e.flags&hasRounding != 0 {
		s = [...]string{"{rn-sae}", "{rd-sae}", "{ru-sae}", "{rz-sae}"}[t.lengthLL]
	}
	if t.syntax == Intel {
		last := len(texts) - 1
		if e.operands[last].place == 'I' {
			last--
		}
		texts[last] += s
		return texts
	}
	at := min(int(e.round), len(texts))
	texts = append(texts, "")
	copy(texts[at+1:], texts[at:])
	texts[at] = s
	return texts
}

// operand returns the text of operand number i.
func (t *x86Text) operand(o *operand, i int) string {
	s := t.operandAlone(o)
	if i == 0 && t.encoding == evex {
		if t.mask != 0 {
			s += "{" + t.percent() + "k" + strconv.Itoa(int(t.mask)) + "}"
		}
		if t.zero {
			s += "{z}"
		}
	}
	return s
}

func (t *x86Text) percent() string {
	if t.syntax == ATT {
		return "%"
	}
	return ""
}

func (t *x86Text) star() string {
	if t.syntax == ATT && t.entry.flags&isIndirect != 0 {
		return "*"
	}
	return ""
}

func (t *x86Text) operandAlone(o *operand) string {
	switch o.place {
	case 'V':
		n := t.reg
		if o.class != 's' && o.class != 'm' {
			t.useREX(rexR)
			n |= t.rex & rexR << 1
		}
		return t.register(o.class, n|t.high&0x10)
	case 'H':
		return t.register(o.class, t.vvvv|t.high&0x20>>1)
	case 'L':
		return t.register(o.class, byte(t.immediates[0])>>4)
	case 'W':
		if t.mod == 3 || t.entry.isControl() {
			n := t.rm
			if o.class != 'm' {
				t.useREX(rexB)
				n |= t.rex & rexB << 3
			}
			if t.encoding == evex && isVector(o.class) {
				n |= t.rex & rexX << 3
			}
			return t.star() + t.register(o.class, n)
		}
		return t.star() + t.memory(o)
	case 'M', 'N':
		return t.star() + t.memory(o)
	case 'Z':
		t.useREX(rexB)
		return t.register(o.class, t.opcode&7|t.rex&rexB<<3)
	case 'F':
		return t.fixed(o)
	case 'I':
		return t.immediate(o)
	case 'J':
		return t.address(t.target())
	case 'O':
		return t.absolute(o)
	case 'X':
		return t.atRegister(o, 6)
	case 'Y':
		return t.atRegister(o, 7)
	}
	return ""
}

func isVector(class byte) bool { return strings.IndexByte("XYZxhf", class) >= 0 }

// target returns the address where a branch goes.
func (t *x86Text) target() uint64 {
	to := t.pc + uint64(t.length) + uint64(t.immediates[0])
	if c := t.entry.immediates[0]; t.hasData && t.rex&rexW == 0 && (c == 'j') {
		t.use(t.lastData)
		to &= 0xffff
	}
	return to
}

// address returns an address with its symbol, as gdb prints it.
func (t *x86Text) address(a uint64) string {
	s := "0x" + strconv.FormatUint(a, 16)
	if t.symbol == nil {
		return s
	}
	name, off, ok := t.symbol(a)
	switch {
	case !ok:
		return s
	case off == 0:
		return s + " <" + name + ">"
	}
	return s + " <" + name + "+" + strconv.FormatUint(off, 10) + ">"
}

// immediate returns a number.
func (t *x86Text) immediate(o *operand) string {
	v, class := t.immediates[0], o.class
	for i := range t.entry.operands[:t.entry.count] { // the second number of enter
		if p := &t.entry.operands[i]; p == o {
			break
		} else if p.place == 'I' {
			v = t.immediates[1]
		}
	}
	u := uint64(v)
	switch class {
	case 'b':
		u = uint64(byte(v))
		if t.hasRegisterImmediate() {
			u &= 15
		}
	case 'w':
		u = uint64(uint16(v))
	case 'd':
		u = uint64(uint32(v))
	default:
		size := 8
		if t.entry.operands[0].place != 'I' {
			size = t.sizeV()
		} else {
			size = t.size8()
		}
		switch size {
		case 2:
			u = uint64(uint16(v))
		case 4:
			u = uint64(uint32(v))
		}
	}
	s := "0x" + strconv.FormatUint(u, 16)
	if t.syntax == ATT {
		return "$" + s
	}
	return s
}

// hasRegisterImmediate reports whether the high bits of the immediate are a register.
func (t *x86Text) hasRegisterImmediate() bool {
	for i := range t.entry.operands[:t.entry.count] {
		if t.entry.operands[i].place == 'L' {
			return true
		}
	}
	return false
}

// fixed returns a register that the opcode implies.
func (t *x86Text) fixed(o *operand) string {
	name := o.name
	switch name {
	case "one":
		if t.syntax == ATT {
			return ""
		}
		return "1"
	case "sti":
		return t.percent() + "st(" + strconv.Itoa(int(t.rm)) + ")"
	case "rAX":
		name = generalNames[t.sizeV()][0]
	case "zAX":
		name = generalNames[t.sizeZ()][0]
	case "dx":
		if t.syntax == ATT {
			return "(%dx)"
		}
	}
	return t.percent() + name
}
