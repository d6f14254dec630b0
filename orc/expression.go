package orc

import "dbg/arch"

// DWARF operations (DWARF 5, section 7.7.1).
const (
	opDeref  = 0x06
	opConstS = 0x11
	opPlus   = 0x22
	opBreg0  = 0x70
)

// keyOf identifies a rule that only an expression can say: of SPIndirect and BPIndirect in the rule for SP, and
// of BP in that for RBP.
func keyOf(r Reg, offset int16) uint32 { return uint32(r)<<16 | uint32(uint16(offset)) }

// makeExpressions makes the expressions of all entries, so that look-ups do not allocate.
func (t *Table) makeExpressions() {
	t.expressions = map[uint32][]byte{}
	var e Entry
	for b := t.Unwind; len(b) >= entrySize; b = b[entrySize:] {
		if e.decode(t.version, b); e.Type < Call || e.Type >= badType {
			continue
		}
		if k := keyOf(e.SP, e.SPOffset); (e.SP == BPIndirect || e.SP == SPIndirect) && t.expressions[k] == nil {
			t.expressions[k] = t.indirect(e.SP, int64(e.SPOffset))
		}
		if k := keyOf(BP, e.BPOffset); e.BP == BP && t.expressions[k] == nil {
			t.expressions[k] = sleb([]byte{opBreg0 + byte(arch.RBP)}, int64(e.BPOffset))
		}
	}
}

// indirect is the expression for SPIndirect or BPIndirect with an offset.
func (t *Table) indirect(r Reg, offset int64) []byte {
	if r == BPIndirect {
		return append(sleb([]byte{opBreg0 + byte(arch.RBP)}, offset), opDeref)
	}
	if t.sum == sumAfter {
		b := []byte{opBreg0 + byte(arch.RSP), 0, opDeref}
		return append(sleb(append(b, opConstS), offset), opPlus)
	}
	return append(sleb([]byte{opBreg0 + byte(arch.RSP)}, offset), opDeref)
}

// sleb appends a signed LEB128 number (DWARF 5, section 7.6).
func sleb(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}
