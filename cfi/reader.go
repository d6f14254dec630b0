package cfi

import "encoding/binary"

// reader reads data[pos:end]. Its error is sticky: after it only zeros come.
type reader struct {
	data  []byte
	pos   int
	end   int
	order binary.ByteOrder
	bad   string // what was wrong, "" if nothing
}

func (r *reader) fail(what string) {
	if r.bad == "" {
		r.bad = what
	}
	r.pos = r.end
}

func (r *reader) more() bool { return r.pos < r.end }

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(r.end-r.pos) {
		r.fail("it ends too early")
		return nil
	}
	b := r.data[r.pos : r.pos+int(n) : r.pos+int(n)]
	r.pos += int(n)
	return b
}

func (r *reader) u8() byte {
	if r.pos >= r.end {
		r.fail("it ends too early")
		return 0
	}
	b := r.data[r.pos]
	r.pos++
	return b
}

// uint reads n bytes, which are 1, 2, 4 or 8.
func (r *reader) uint(n int) uint64 {
	b := r.bytes(uint64(n))
	if b == nil {
		return 0
	}
	switch n {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(r.order.Uint16(b))
	case 4:
		return uint64(r.order.Uint32(b))
	case 8:
		return r.order.Uint64(b)
	}
	r.fail("an address has an unheard-of size")
	return 0
}

// uleb reads an unsigned LEB128 of at most 10 bytes that fits in 64 bits.
func (r *reader) uleb() uint64 {
	var v uint64
	for shift := uint(0); shift < 70; shift += 7 {
		b := r.u8()
		if shift == 63 && b > 1 {
			break
		}
		v |= uint64(b&0x7f) << shift
		if b&0x80 == 0 {
			return v
		}
	}
	r.fail("a LEB128 number is too long")
	return 0
}

// sleb reads a signed LEB128 of at most 10 bytes.
func (r *reader) sleb() int64 {
	var v int64
	for shift := uint(0); shift < 70; shift += 7 {
		b := r.u8()
		v |= int64(b&0x7f) << shift
		if b&0x80 == 0 {
			if shift+7 < 64 && b&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	r.fail("a LEB128 number is too long")
	return 0
}

// cstring reads up to a NUL, and it.
func (r *reader) cstring() []byte {
	for i := r.pos; i < r.end; i++ {
		if r.data[i] == 0 {
			s := r.data[r.pos:i]
			r.pos = i + 1
			return s
		}
	}
	r.fail("a string does not end")
	return nil
}
