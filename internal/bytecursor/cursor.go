package bytecursor

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Cursor reads Data from Pos on. The zero value of the other fields is ready to use: little-endian,
// no error. A Cursor is a plain value: a copy goes its own way.
type Cursor struct {
	Data []byte
	Pos  int  // at most len(Data)
	Big  bool // numbers are big-endian

	err error
}

// Restart makes the cursor read from pos up to end, without an error. It is for many parts of the
// same bytes: Data is made longer or shorter, up to its capacity. No pointer is written, which
// would be costly while garbage is collected.
func (c *Cursor) Restart(pos, end int) {
	c.Data, c.Pos = c.Data[:end], pos
	if c.err != nil {
		c.err = nil
	}
}

// Err returns the first failure, nil if there was none.
func (c *Cursor) Err() error { return c.err }

// More reports whether bytes are left.
func (c *Cursor) More() bool { return c.Pos < len(c.Data) }

// Left returns how many bytes are left.
func (c *Cursor) Left() int { return len(c.Data) - c.Pos }

// Fail records an error and moves to the end of the data. If there was an error before, that one
// stays.
func (c *Cursor) Fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.Pos = len(c.Data)
}

// Malformed fails because the item at an offset is invalid. The text names the item and the
// defect: "a LEB128 number of more than 64 bits".
//
//go:noinline
func (c *Cursor) Malformed(at int, item string) { c.Fail(&Error{ErrMalformed, item, at}) }

// Unsupported fails because this program cannot read the item at an offset.
//
//go:noinline
func (c *Cursor) Unsupported(at int, item string) { c.Fail(&Error{ErrUnsupported, item, at}) }

// short fails because an item at Pos is not complete.
//
//go:noinline
func (c *Cursor) short(item string) { c.Fail(&Error{ErrCutShort, item, c.Pos}) }

// U8 reads a byte.
func (c *Cursor) U8() (v uint8) {
	if c.Pos < len(c.Data) {
		v = c.Data[c.Pos]
		c.Pos++
		return v
	}
	return c.noByte()
}

// noByte keeps U8 small enough to be inlined.
//
//go:noinline
func (c *Cursor) noByte() uint8 {
	c.short("a byte")
	return 0
}

// U16 reads a number of two bytes.
func (c *Cursor) U16() uint16 {
	if c.Left() < 2 {
		c.short("a 2-byte number")
		return 0
	}
	b := c.Data[c.Pos:]
	c.Pos += 2
	if c.Big {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

// U24 reads a number of three bytes.
func (c *Cursor) U24() uint32 {
	if c.Left() < 3 {
		c.short("a 3-byte number")
		return 0
	}
	b := c.Data[c.Pos:]
	c.Pos += 3
	if c.Big {
		return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
	}
	return uint32(b[2])<<16 | uint32(b[1])<<8 | uint32(b[0])
}

// U32 reads a number of four bytes.
func (c *Cursor) U32() uint32 {
	if c.Left() < 4 {
		c.short("a 4-byte number")
		return 0
	}
	b := c.Data[c.Pos:]
	c.Pos += 4
	if c.Big {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

// U64 reads a number of eight bytes.
func (c *Cursor) U64() uint64 {
	if c.Left() < 8 {
		c.short("an 8-byte number")
		return 0
	}
	b := c.Data[c.Pos:]
	c.Pos += 8
	if c.Big {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// Uint reads an unsigned number, such as an address, of 1, 2, 4 or 8 bytes. Other sizes are
// unsupported.
func (c *Cursor) Uint(size int) uint64 {
	switch size {
	case 1:
		return uint64(c.U8())
	case 2:
		return uint64(c.U16())
	case 4:
		return uint64(c.U32())
	case 8:
		return c.U64()
	}
	c.Unsupported(c.Pos, fmt.Sprintf("a number of %d bytes", size))
	return 0
}

// Int reads a signed number of 1, 2, 4 or 8 bytes.
func (c *Cursor) Int(size int) int64 {
	switch v := c.Uint(size); size {
	case 1:
		return int64(int8(v))
	case 2:
		return int64(int16(v))
	case 4:
		return int64(int32(v))
	default:
		return int64(v)
	}
}

// Offset reads an offset in a section: of 8 bytes in 64-bit DWARF, else of 4 (section 7.4).
func (c *Cursor) Offset(is64 bool) uint64 {
	if is64 {
		return c.U64()
	}
	return uint64(c.U32())
}

// InitialLength reads the length of a unit or an entry, and whether it is of 64-bit DWARF (section
// 7.4). It does not check that so many bytes follow.
func (c *Cursor) InitialLength() (length uint64, is64 bool) {
	at := c.Pos
	length = uint64(c.U32())
	if length == 0xffffffff {
		return c.U64(), true
	}
	if length >= 0xfffffff0 {
		c.Malformed(at, fmt.Sprintf("the reserved length 0x%x", length))
		return 0, false
	}
	return length, false
}

// Block returns the next n bytes. They are part of Data, with no room to append.
func (c *Cursor) Block(n uint64) []byte {
	if n > uint64(len(c.Data)-c.Pos) {
		c.short("a block")
		return nil
	}
	b := c.Data[c.Pos : c.Pos+int(n) : c.Pos+int(n)]
	c.Pos += int(n)
	return b
}

// CString returns the bytes up to a NUL and passes the NUL. They are part of Data.
func (c *Cursor) CString() []byte {
	n := bytes.IndexByte(c.Data[c.Pos:], 0)
	if n < 0 {
		c.short("a string")
		return nil
	}
	b := c.Data[c.Pos : c.Pos+n]
	c.Pos += n + 1
	return b
}
