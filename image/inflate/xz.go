package inflate

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/ulikunitz/xz"
)

// maxXZ limits the inflated size of an xz stream: .gnu_debugdata has only names and addresses.
// maxDict limits the decoder's memory: xz's highest preset uses 64 MB.
const (
	maxXZ   = 512 << 20
	maxDict = 64 << 20
)

// XZ inflates a file of one xz stream. Before that it checks the limits on the sizes in its index
// and in the headers of its blocks. The result is at most 512 MB.
func XZ(raw []byte) ([]byte, error) {
	size, err := checkXZ(raw)
	if err != nil {
		return nil, err
	}
	r, err := xz.ReaderConfig{SingleStream: true, DictCap: 1 << 16}.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	out := make([]byte, size)
	if n, err := io.ReadFull(r, out); err != nil {
		return nil, fmt.Errorf("xz: only %d of %d bytes could be inflated: %w", n, size, err)
	}
	// The rest is the end, with the checksum of the last block.
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		return nil, fmt.Errorf("xz: the stream does not end after %d bytes: %v", size, err)
	}
	return out, nil
}

// checkXZ reads the index of an xz stream and the dictionary sizes of its blocks
// (The .xz File Format, 1.2.1: sections 2, 3.1 and 4) and returns the size of the
// data.
func checkXZ(raw []byte) (uint64, error) {
	const head, foot = 12, 12
	if len(raw) < head+foot || string(raw[:6]) != "\xfd7zXZ\x00" {
		return 0, errors.New("not an xz stream")
	}
	f := raw[len(raw)-foot:]
	if string(f[10:]) != "YZ" || crc32.ChecksumIEEE(f[4:10]) != binary.LittleEndian.Uint32(f) {
		return 0, errors.New("xz: the stream's footer is damaged")
	}
	back := (uint64(binary.LittleEndian.Uint32(f[4:])) + 1) * 4
	if back > uint64(len(raw)-head-foot) {
		return 0, errors.New("xz: the index is longer than the stream")
	}
	at := uint64(len(raw)) - foot - back
	index := xzNumbers{b: raw[at : uint64(len(raw))-foot]}
	blocks := raw[head:at]
	if index.byte() != 0 {
		return 0, errors.New("xz: no index at the place that the footer gives")
	}
	var total uint64
	for n := index.number(); n > 0 && !index.bad; n-- {
		packed, size := index.number(), index.number()
		if index.bad || packed > uint64(len(blocks)) || size > maxXZ-total {
			return 0, fmt.Errorf("xz: implausible block of %d bytes that inflates to %d, after %d bytes", packed, size, total)
		}
		total += size
		if err := checkBlock(blocks[:packed]); err != nil {
			return 0, err
		}
		blocks = blocks[min((packed+3)&^3, uint64(len(blocks))):]
	}
	if index.bad {
		return 0, errors.New("xz: the index is damaged")
	}
	return total, nil
}

// checkBlock checks the header of a block: one filter, LZMA2, and its dictionary.
func checkBlock(b []byte) error {
	h := xzNumbers{b: b}
	if len(b) == 0 || (int(b[0])+1)*4 > len(b) {
		return errors.New("xz: a block header is truncated")
	}
	h.byte()
	flags := h.byte()
	if flags&0x40 != 0 {
		h.number() // compressed size
	}
	if flags&0x80 != 0 {
		h.number() // uncompressed size
	}
	filter, n, prop := h.number(), h.number(), h.byte()
	if h.bad || flags&3 != 0 || filter != 0x21 || n != 1 || prop > 40 {
		return errors.New("xz: a block uses a filter other than LZMA2")
	}
	// Section 5.3.1: 4 KB, 6 KB, 8 KB, 12 KB, ...
	if dict := (2 | uint64(prop)&1) << (prop/2 + 11); dict > maxDict {
		return fmt.Errorf("xz: implausible dictionary of %d bytes", dict)
	}
	return nil
}

// xzNumbers reads the integers of xz (section 1.2): like ULEB128, of 9 bytes at most.
type xzNumbers struct {
	b   []byte
	bad bool
}

func (r *xzNumbers) byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *xzNumbers) number() (v uint64) {
	for shift := 0; shift < 63 && !r.bad; shift += 7 {
		c := r.byte()
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	r.bad = true
	return 0
}
