package compare

import (
	"dbg/arch"
	"dbg/code"
)

// callFinder counts the calls in ranges of code that come by ascending address.
type callFinder struct {
	f      *File
	fn     uint64 // the function in which at is
	at     uint64 // the next instruction
	thumb  bool
	broken bool // the rest of the function can't be decoded
}

// maxCode limits the code of one row that is read at once.
const maxCode = 1 << 20

// count returns the number of call instructions in [lo, hi), which is in the function that starts at fn.
func (c *callFinder) count(fn, lo, hi uint64) (n uint64) {
	if fn != c.fn || c.at > lo {
		c.fn, c.at, c.broken = fn, fn, false
		c.thumb = c.f.arch == arch.ARM && c.isThumb(fn)
	}
	if c.broken || hi <= c.at || hi-c.at > maxCode {
		return 0
	}
	text := c.f.module.CodeAt(c.at, int(hi-c.at))
	for len(text) > 0 {
		in := c.decode(text)
		if in.Len == 0 || int(in.Len) > len(text) {
			c.broken = true
			return n
		}
		if (in.Next == code.Call || in.Next == code.CallFar) && c.at >= lo {
			n++
		}
		c.at += uint64(in.Len)
		text = text[in.Len:]
	}
	return n
}

// isThumb reports whether the function that starts at an address is Thumb code.
func (c *callFinder) isThumb(fn uint64) bool {
	if thumb, known := c.f.module.ThumbSymbol(fn); known {
		return thumb
	}
	return fn%4 != 0 || code.LooksLikeThumb(c.f.module.CodeAt(fn, 32))
}

func (c *callFinder) decode(text []byte) code.Insn {
	if c.thumb {
		return code.DecodeThumb(text)
	}
	return code.Decode(c.f.arch, text)
}
