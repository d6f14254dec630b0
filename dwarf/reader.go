package dwarf

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// reader is a cursor over bytes with a sticky error: after the first failure
// every read gives 0 and the caller checks err once, at the end.
type reader struct {
	b   []byte
	off int
	big bool
	err error
}

func (r *reader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("%s is cut short at offset 0x%x", what, r.off)
	}
	r.off = len(r.b)
}

func (r *reader) left() int { return len(r.b) - r.off }

func (r *reader) u8() uint8 {
	if r.off >= len(r.b) {
		r.fail("a byte")
		return 0
	}
	v := r.b[r.off]
	r.off++
	return v
}

func (r *reader) u16() uint16 {
	if r.left() < 2 {
		r.fail("a 2-byte number")
		return 0
	}
	b := r.b[r.off:]
	r.off += 2
	if r.big {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

func (r *reader) u24() uint32 {
	if r.left() < 3 {
		r.fail("a 3-byte number")
		return 0
	}
	b := r.b[r.off:]
	r.off += 3
	if r.big {
		return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
	}
	return uint32(b[2])<<16 | uint32(b[1])<<8 | uint32(b[0])
}

func (r *reader) u32() uint32 {
	if r.left() < 4 {
		r.fail("a 4-byte number")
		return 0
	}
	b := r.b[r.off:]
	r.off += 4
	if r.big {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

func (r *reader) u64() uint64 {
	if r.left() < 8 {
		r.fail("an 8-byte number")
		return 0
	}
	b := r.b[r.off:]
	r.off += 8
	if r.big {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// sized reads an unsigned number of 1, 2, 4 or 8 bytes.
func (r *reader) sized(n int) uint64 {
	switch n {
	case 1:
		return uint64(r.u8())
	case 2:
		return uint64(r.u16())
	case 4:
		return uint64(r.u32())
	case 8:
		return r.u64()
	}
	r.fail(fmt.Sprintf("a number of %d bytes", n))
	return 0
}

// offset reads a section offset in 32-bit or 64-bit format.
func (r *reader) offset(is64 bool) uint64 {
	if is64 {
		return r.u64()
	}
	return uint64(r.u32())
}

// unitLength reads an initial length (section 7.4): 0xffffffff announces the
// 64-bit format, 0xfffffff0 and above are reserved.
func (r *reader) unitLength() (length uint64, is64 bool) {
	length = uint64(r.u32())
	if length == 0xffffffff {
		return r.u64(), true
	}
	if length >= 0xfffffff0 {
		r.fail("a unit with a reserved length")
	}
	return length, false
}

// uleb reads an unsigned LEB128 number (section 7.6). Bits beyond 64 are lost;
// padding is legal, so the length is bounded by the data only.
func (r *reader) uleb() uint64 {
	var v uint64
	for shift := uint(0); r.off < len(r.b); shift += 7 {
		c := r.b[r.off]
		r.off++
		if shift < 64 {
			v |= uint64(c&0x7f) << shift
		}
		if c < 0x80 {
			return v
		}
	}
	r.fail("a LEB128 number")
	return 0
}

func (r *reader) sleb() int64 {
	var v int64
	for shift := uint(0); r.off < len(r.b); {
		c := r.b[r.off]
		r.off++
		if shift < 64 {
			v |= int64(c&0x7f) << shift
		}
		shift += 7
		if c < 0x80 {
			if c&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return v
		}
	}
	r.fail("a LEB128 number")
	return 0
}

// take returns the next n bytes.
func (r *reader) take(n uint64) []byte {
	if n > uint64(r.left()) {
		r.fail("a block")
		return nil
	}
	b := r.b[r.off : r.off+int(n) : r.off+int(n)]
	r.off += int(n)
	return b
}

// cstring returns the bytes up to a zero, which is skipped.
func (r *reader) cstring() []byte {
	i := bytes.IndexByte(r.b[r.off:], 0)
	if i < 0 {
		r.fail("a string")
		return nil
	}
	b := r.b[r.off : r.off+i]
	r.off += i + 1
	return b
}
