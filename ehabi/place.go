package ehabi

import "dbg/arch"

// maxLoads limits how often an address may depend on a word of the stack. Real code loads a stack
// pointer once.
const maxLoads = 3

// place is an address: a register's value at PC plus an offset, or a word on the stack at such an
// address, plus an offset, and so on. Equal places compare equal, except for off.
type place struct {
	reg   arch.Reg
	loads int             // words to be read
	word  [maxLoads]int64 // word[i] is the offset that the address of word i adds
	off   int64
}

// load returns the value of the word at p. ok is false if there are too many.
func (p place) load() (v place, ok bool) {
	if p.loads == maxLoads {
		return p, false
	}
	p.word[p.loads] = p.off
	p.loads++
	p.off = 0
	return p, true
}

// from returns the distance from o to p. ok is false if it is not constant.
func (p place) from(o place) (n int64, ok bool) {
	n = p.off - o.off
	p.off, o.off = 0, 0
	return n, p == o
}

// expr returns the DWARF expression that computes the place (DWARF 5, section 2.5).
func (p place) expr() []byte {
	const breg0, deref, consts, plus = 0x70, 0x06, 0x11, 0x22
	first := p.off
	if p.loads > 0 {
		first = p.word[0]
	}
	e := sleb([]byte{breg0 + byte(p.reg)}, first)
	for i := range p.loads {
		e = append(e, deref)
		next := p.off
		if i+1 < p.loads {
			next = p.word[i+1]
		}
		if next != 0 {
			e = append(sleb(append(e, consts), next), plus)
		}
	}
	return e
}

func sleb(b []byte, v int64) []byte {
	for v < -64 || v >= 64 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v)&0x7f)
}
