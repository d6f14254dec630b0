package emulate

import "encoding/binary"

// Displace rewrites the instruction at from so that one single step of it at to has the same effect
// as at from, but for RIP, which is then to+len(out) instead of from+n. The original is n bytes
// long. It returns false for an instruction that depends on its address, or that is not known well
// enough.
//
// If the step raises a fault, then RIP is to, and the caller has to set it back to from.
func Displace(code []byte, from, to uint64) (out []byte, n int, ok bool) {
	l, ok := parse(code)
	if !ok || !l.displaceable() {
		return nil, 0, false
	}
	n = int(l.length)
	out = append([]byte(nil), code[:n]...)
	if !l.ripRelative() {
		return out, n, true
	}
	disp := int64(l.disp) + int64(from-to)
	if l.addr32 || disp != int64(int32(disp)) {
		return nil, 0, false
	}
	binary.LittleEndian.PutUint32(out[l.dispAt:], uint32(disp))
	return out, n, true
}

// displaceable reports whether the instruction is in the tables, with its prefixes and its group.
func (l *layout) displaceable() bool {
	table := displaceTable(l.scheme, l.opmap)
	if table == "" || hexDigit(table[l.opcode])&l.mandatoryPrefix() == 0 {
		return false
	}
	key := opcode{l.opmap, l.opcode}
	if forms, ok := displaceGroups[key]; ok {
		allowed := forms.memory
		if l.mod == 3 {
			allowed = forms.register
		}
		if allowed>>l.reg&1 == 0 {
			return false
		}
	}
	if l.lock && (l.mod == 3 || lockable[key]>>l.reg&1 == 0) {
		return false
	}
	// ENDBR32 and ENDBR64 are the only instructions of their opcode that are known well.
	return key != opcode{map0F, 0x1e} || l.reg == 7 && (l.rm == 2 || l.rm == 3)
}

// mandatoryPrefix returns the bit that the tables have for the prefix: none, 66, F3 or F2. Where 66
// and another are combined the meaning depends on the instruction, and 0 is returned.
func (l *layout) mandatoryPrefix() byte {
	switch {
	case l.op16 && l.rep != 0:
		return 0
	case l.op16:
		return 2
	case l.rep == 0xf3:
		return 4
	case l.rep == 0xf2:
		return 8
	}
	return 1
}

// hexDigit returns the value of a digit of the tables; a dot is 0.
func hexDigit(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= '0':
		return c - '0'
	}
	return 0
}
