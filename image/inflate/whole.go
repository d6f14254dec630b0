package inflate

import (
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz/lzma"
)

// maxWhole limits the size of a whole file that is inflated: the largest kernels have 100 MB.
const maxWhole = 512 << 20

var errTooLarge = errors.New("it inflates to more than 512 MB")

// Magic numbers of whole files. The last is that of lz4's legacy frames, which the kernel uses.
var wholeFormats = [...]struct {
	magic   string
	name    string
	inflate func([]byte) ([]byte, error)
}{
	{"\x1f\x8b", "gzip", inflateGzip},
	{"\xfd7zXZ\x00", "xz", inflateXZ},
	{"\x28\xb5\x2f\xfd", "zstd", inflateZstd},
	{"BZh", "bzip2", func(b []byte) ([]byte, error) { return readWhole(bzip2.NewReader(bytes.NewReader(b))) }},
	{"\x5d\x00\x00", "lzma", inflateLZMA},
	{"\x02\x21\x4c\x18", "lz4", lz4Legacy},
}

// WholeFormat returns the name of the format of a compressed file that begins with these bytes, or "".
func WholeFormat(b []byte) string {
	for _, f := range wholeFormats {
		if bytes.HasPrefix(b, []byte(f.magic)) {
			return f.name
		}
	}
	return ""
}

// Whole inflates a whole file in one of the formats in which the Linux kernel and its modules are
// compressed (gzip, xz, zstd, bzip2, lzma, lz4), of at most 512 MB.
func Whole(raw []byte) ([]byte, error) {
	for _, f := range wholeFormats {
		if bytes.HasPrefix(raw, []byte(f.magic)) {
			out, err := f.inflate(raw)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.name, err)
			}
			return out, nil
		}
	}
	return nil, errors.New("its compression is unknown")
}

// readWhole reads all of r, within the limit.
func readWhole(r io.Reader) ([]byte, error) {
	var out bytes.Buffer
	if _, err := io.Copy(&out, io.LimitReader(r, maxWhole+1)); err != nil {
		return nil, err
	}
	if out.Len() > maxWhole {
		return nil, errTooLarge
	}
	return out.Bytes(), nil
}

func inflateGzip(raw []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	r.Multistream(false)
	return readWhole(r)
}

func inflateZstd(raw []byte) ([]byte, error) {
	r, err := zstd.NewReader(bytes.NewReader(raw), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return readWhole(r)
}

func inflateLZMA(raw []byte) ([]byte, error) {
	if len(raw) < 13 || binary.LittleEndian.Uint32(raw[1:]) > maxDict {
		return nil, errors.New("implausible dictionary")
	}
	r, err := lzma.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return readWhole(r)
}

// inflateXZ inflates an xz file, also one that went through the filter for x86 code.
func inflateXZ(raw []byte) ([]byte, error) {
	data, ok, err := x86Block(raw)
	if !ok {
		return XZ(raw)
	}
	return data, err
}

// x86Block inflates an xz file of one block with the filters x86 and LZMA2 (The .xz File Format, 1.2.1: sections
// 3.1 and 5.3.2). ok is false if the first block has other filters.
func x86Block(raw []byte) (data []byte, ok bool, err error) {
	const head = 12
	if len(raw) < head+8 {
		return nil, false, nil
	}
	size := (int(raw[head]) + 1) * 4
	if size > len(raw)-head {
		return nil, false, nil
	}
	h := xzNumbers{b: raw[head:][:size]}
	h.byte()
	flags := h.byte()
	if flags&0x40 != 0 {
		h.number()
	}
	if flags&0x80 != 0 {
		h.number()
	}
	const x86, lzma2 = 4, 0x21
	if first, n := h.number(), h.number(); flags&3 != 1 || first != x86 || n != 0 {
		return nil, false, nil
	}
	filter, n, prop := h.number(), h.number(), h.byte()
	if h.bad || filter != lzma2 || n != 1 || prop > 40 {
		return nil, true, errors.New("the second filter of a block is not LZMA2")
	}
	dict := (2 | uint64(prop)&1) << (prop/2 + 11)
	if dict > maxDict {
		return nil, true, fmt.Errorf("implausible dictionary of %d bytes", dict)
	}
	rest := bytes.NewReader(raw[head+size:])
	r, err := lzma.Reader2Config{DictCap: int(dict)}.NewReader2(rest)
	if err != nil {
		return nil, true, err
	}
	if data, err = readWhole(r); err != nil {
		return nil, true, err
	}
	undoX86(data)
	return data, true, nil
}

// lz4Legacy inflates frames of lz4's legacy format: blocks of 8 MB at most, each with its size (lz4's
// doc/lz4_Frame_format.md, "Legacy frame").
func lz4Legacy(raw []byte) ([]byte, error) {
	const magic, maxBlock = 0x184c2102, 8 << 20
	var out []byte
	for b := raw; len(b) >= 4; {
		n := binary.LittleEndian.Uint32(b)
		if b = b[4:]; n == magic {
			continue
		}
		if uint64(n) > uint64(len(b)) || n == 0 {
			break // what follows the last block, such as the size at the end of a kernel
		}
		if len(out) > maxWhole-maxBlock {
			return nil, errTooLarge
		}
		var err error
		if out, err = lz4Block(out, b[:n], maxBlock); err != nil {
			return nil, err
		}
		b = b[n:]
	}
	if len(out) == 0 {
		return nil, errors.New("it has no block")
	}
	return out, nil
}

// lz4Block appends a block to out (lz4's doc/lz4_Block_format.md).
func lz4Block(out, b []byte, most int) ([]byte, error) {
	begin := len(out)
	damaged := func() ([]byte, error) { return nil, fmt.Errorf("a block is damaged after %d bytes", len(out)) }
	length := func(n int) (int, bool) {
		if n < 15 {
			return n, true
		}
		for len(b) > 0 && n <= most {
			c := b[0]
			b = b[1:]
			if n += int(c); c != 255 {
				return n, n <= most
			}
		}
		return 0, false
	}
	for len(b) > 0 {
		token := b[0]
		b = b[1:]
		n, ok := length(int(token >> 4))
		if !ok || n > len(b) || len(out)-begin+n > most {
			return damaged()
		}
		out, b = append(out, b[:n]...), b[n:]
		if len(b) == 0 {
			return out, nil // the last sequence has no match
		}
		if len(b) < 2 {
			return damaged()
		}
		back := int(binary.LittleEndian.Uint16(b))
		b = b[2:]
		n, ok = length(int(token & 15))
		if n += 4; !ok || back == 0 || back > len(out)-begin || len(out)-begin+n > most {
			return damaged()
		}
		for ; n > 0; n-- { // the match may overlap what it makes
			out = append(out, out[len(out)-back])
		}
	}
	return out, nil
}
