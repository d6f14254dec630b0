package expr

import "encoding/binary"

// reader reads operands. Its error is sticky: after it nothing but zeros comes, and
// the evaluator looks at it once an operation.
type reader struct {
	code []byte
	pos  int
	err  error
}

func (r *reader) more() bool { return r.pos < len(r.code) }

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.pos = len(r.code)
}

func (r *reader) u8() byte {
	if r.pos >= len(r.code) {
		r.fail(errTruncated)
		return 0
	}
	b := r.code[r.pos]
	r.pos++
	return b
}

// block returns the next n bytes; they are the expression's own.
func (r *reader) block(n uint64) []byte {
	if n > uint64(len(r.code)-r.pos) {
		r.fail(errTruncated)
		return nil
	}
	b := r.code[r.pos : r.pos+int(n) : r.pos+int(n)]
	r.pos += int(n)
	return b
}

// uint reads an unsigned number of n bytes, 1 to 8.
func (r *reader) uint(n int, o binary.ByteOrder) uint64 {
	return decodeUint(r.block(uint64(n)), o)
}

// sint reads a signed number of n bytes.
func (r *reader) sint(n int, o binary.ByteOrder) int64 {
	return signExtend(r.uint(n, o), n)
}

// uleb reads an unsigned LEB128 of at most 10 bytes, DWARF 5 section 7.6. Bits
// beyond the 64th are an error unless they are 0.
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
	r.fail(errLEB)
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
	r.fail(errLEB)
	return 0
}

// encoded reads a number in the format that the low four bits of a DW_EH_PE_* encoding name.
func (r *reader) encoded(enc byte, ptr int, o binary.ByteOrder) uint64 {
	switch enc & 15 {
	case 0x00, 0x08:
		return r.uint(ptr, o)
	case 0x01:
		return r.uleb()
	case 0x02:
		return r.uint(2, o)
	case 0x03:
		return r.uint(4, o)
	case 0x04, 0x0c:
		return r.uint(8, o)
	case 0x09:
		return uint64(r.sleb())
	case 0x0a:
		return uint64(r.sint(2, o))
	case 0x0b:
		return uint64(r.sint(4, o))
	}
	r.fail(errEncoding)
	return 0
}

// decodeUint decodes up to 8 bytes.
func decodeUint(b []byte, o binary.ByteOrder) uint64 {
	switch len(b) {
	case 8:
		return o.Uint64(b)
	case 4:
		return uint64(o.Uint32(b))
	case 2:
		return uint64(o.Uint16(b))
	case 1:
		return uint64(b[0])
	}
	var v uint64
	for i := range b {
		if o == binary.ByteOrder(binary.BigEndian) {
			v = v<<8 | uint64(b[i])
		} else {
			v |= uint64(b[i]) << (8 * (i & 7))
		}
	}
	return v
}

// signExtend takes v as a number of n bytes.
func signExtend(v uint64, n int) int64 {
	if n <= 0 || n >= 8 {
		return int64(v)
	}
	s := uint(64 - 8*n)
	return int64(v<<s) >> s
}
