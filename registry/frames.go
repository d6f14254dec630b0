package registry

import (
	"fmt"

	"dbg/target"
)

// Limits of the call frame information of one entry.
const (
	MaxFrames = 16 << 20 // bytes
	chunk     = 4 << 10
)

// ReadFrames reads the call frame information of an entry. It returns the bytes and their address. They
// begin with the first CIE that an FDE refers to, which may be before e.Frames, and end before the zero
// length or, if e.Single is set, after the FDE. DWARF's 64-bit format is an error, as libgcc does not
// know it in .eh_frame.
func (l Layout) ReadFrames(mem target.Memory, e Entry) ([]byte, target.Addr, error) {
	r := frameReader{Layout: l, mem: mem, start: e.Frames}
	off, first := uint64(0), uint64(e.Frames)
	for {
		b, err := r.bytes(off, 4)
		if err != nil {
			return nil, 0, err
		}
		size := uint64(l.Order.Uint32(b))
		if size == 0 {
			break
		}
		at := uint64(e.Frames) + off
		if size < 8 || size > MaxFrames {
			return nil, 0, fmt.Errorf("the registered entry at 0x%x has the invalid length 0x%x", at, size)
		}
		if b, err = r.bytes(off+4, size); err != nil {
			return nil, 0, err
		}
		if id := uint64(l.Order.Uint32(b)); id != 0 {
			if id > MaxFrames || id > at+4 {
				return nil, 0, fmt.Errorf("the CIE pointer of the registered FDE at 0x%x is invalid", at)
			}
			first = min(first, at+4-id)
		}
		if off += 4 + size; e.Single {
			break
		}
	}
	if off == 0 {
		return nil, 0, fmt.Errorf("the registered call frame information at %s is empty", e.Frames)
	}
	if before := uint64(e.Frames) - first; before > 0 {
		head := make([]byte, before)
		if _, err := mem.ReadMemory(target.Addr(first), head); err != nil {
			return nil, 0, fmt.Errorf("the CIE of registered frames: %w", err)
		}
		return append(head, r.data[:off]...), target.Addr(first), nil
	}
	return r.data[:off:off], e.Frames, nil
}

// frameReader reads memory from an address on as far as it is needed.
type frameReader struct {
	Layout
	mem   target.Memory
	start target.Addr
	data  []byte
}

// bytes returns n bytes at an offset.
func (r *frameReader) bytes(off, n uint64) ([]byte, error) {
	if off+n > MaxFrames {
		return nil, fmt.Errorf("the registered call frame information at %s is longer than %d bytes", r.start, MaxFrames)
	}
	for uint64(len(r.data)) < off+n {
		var b [chunk]byte
		at := r.start + target.Addr(len(r.data))
		got, err := r.mem.ReadMemory(at, b[:chunk-uint64(at)%chunk]) // to the end of the page
		got = max(0, min(got, chunk))
		r.data = append(r.data, b[:got]...)
		if uint64(len(r.data)) < off+n && (err != nil || got == 0) {
			return nil, fmt.Errorf("registered call frame information: %w", err)
		}
	}
	return r.data[off : off+n], nil
}
