package bytecursor

// MaxLEB bounds the bytes of a LEB128 number, padding included.
const MaxLEB = 16

// SureLEB is how many bytes of a LEB128 number fit 64 bits whatever their value. A loop that passes
// numbers without a Cursor leaves those of more bytes to ULEB and SLEB.
const SureLEB = 9

// ULEB reads an unsigned LEB128 number (section 7.6). The package comment says which are legal.
func (c *Cursor) ULEB() uint64 {
	if at := c.Pos; uint(at) < uint(len(c.Data)) { // one comparison for both bounds
		if b := c.Data[at]; b < 0x80 {
			c.Pos = at + 1
			return uint64(b)
		}
	}
	return c.longULEB()
}

// longULEB reads a number of any length. Nine bytes have 63 bits.
func (c *Cursor) longULEB() uint64 {
	var v uint64
	pos := c.Pos
	for shift := uint(0); pos < len(c.Data); shift += 7 {
		b := c.Data[pos]
		if shift == 63 {
			return c.wideULEB(v, pos)
		}
		pos++
		v |= uint64(b&0x7f) << (shift & 63)
		if b < 0x80 {
			c.Pos = pos
			return v
		}
	}
	c.short(lebItem)
	return 0
}

// wideULEB reads the tenth byte of a number, which is at pos, and those after it. Only the lowest
// bit of the tenth may be set.
func (c *Cursor) wideULEB(v uint64, pos int) uint64 {
	for most := uint64(1); ; most = 0 {
		b := c.Data[pos]
		pos++
		bits := uint64(b & 0x7f)
		if bits > most {
			c.Malformed(c.Pos, lebValue)
			return 0
		}
		v |= bits << 63
		if b < 0x80 {
			c.Pos = pos
			return v
		}
		if !c.lebGoesOn(pos) {
			return 0
		}
	}
}

// SLEB reads a signed LEB128 number.
func (c *Cursor) SLEB() int64 {
	if at := c.Pos; uint(at) < uint(len(c.Data)) {
		if b := c.Data[at]; b < 0x80 {
			c.Pos = at + 1
			return int64(int8(b<<1) >> 1)
		}
	}
	return c.longSLEB()
}

func (c *Cursor) longSLEB() int64 {
	var v uint64
	pos := c.Pos
	for shift := uint(0); pos < len(c.Data); {
		b := c.Data[pos]
		if shift == 63 {
			return c.wideSLEB(v, pos)
		}
		pos++
		v |= uint64(b&0x7f) << (shift & 63)
		shift += 7
		if b < 0x80 {
			c.Pos = pos
			unused := (64 - shift) & 63
			return int64(v<<unused) >> unused
		}
	}
	c.short(lebItem)
	return 0
}

// wideSLEB reads the tenth byte of a number, which is at pos, and those after it. All their bits
// are the sign.
func (c *Cursor) wideSLEB(v uint64, pos int) int64 {
	sign := c.Data[pos] & 0x7f
	if sign != 0 && sign != 0x7f {
		c.Malformed(c.Pos, lebValue)
		return 0
	}
	v |= uint64(sign) << 63
	for {
		b := c.Data[pos]
		pos++
		if b&0x7f != sign {
			c.Malformed(c.Pos, lebValue)
			return 0
		}
		if b < 0x80 {
			c.Pos = pos
			return int64(v)
		}
		if !c.lebGoesOn(pos) {
			return 0
		}
	}
}

// lebGoesOn reports whether the number at Pos may have a byte at pos, and fails if not.
func (c *Cursor) lebGoesOn(pos int) bool {
	switch {
	case pos-c.Pos >= MaxLEB:
		c.Malformed(c.Pos, lebLength)
		return false
	case pos >= len(c.Data):
		c.short(lebItem)
		return false
	}
	return true
}

const (
	lebItem   = "a LEB128 number"
	lebValue  = "a LEB128 number of more than 64 bits"
	lebLength = "a LEB128 number of more than 16 bytes" // MaxLEB
)
