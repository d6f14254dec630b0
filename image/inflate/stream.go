package inflate

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// MaxRatio is the inflated size that is believed of many bytes, in times the compressed size.
// Neither format has a ratio that is certainly wrong: deflate reaches 1032:1 (RFC 1951: a 258-byte
// match of 2 bits), zstd 32768:1 (RFC 8878: a block of 128 KB in 4 bytes). Real debug sections shrink
// to a half or a tenth.
const MaxRatio = 200

// Limits on the size that a section may claim to inflate to, in bytes.
const (
	anyRatio    = 64 << 20  // up to this size any ratio is believed: it does no harm
	maxInflated = 16 << 30  // of one section
	anyTotal    = 256 << 20 // all sections of a file, above MaxRatio times its size
)

// maxWindow limits how far back a zstd stream may refer, and so the decoder's memory. It is
// zstd's own limit at its highest level (--ultra -22).
const maxWindow = 128 << 20

// Budget is the sum of what the sections of one file have claimed. The zero value is ready for use.
type Budget struct{ used uint64 }

// Take adds a section of packed bytes that claims to inflate to size bytes. It returns an error if
// that is implausible, by itself or together with the sections before it in a file of file bytes:
// several section headers may refer to the same bytes.
func (b *Budget) Take(packed int, size uint64, file int) error {
	if size > maxInflated || size > anyRatio && size/MaxRatio > uint64(packed) {
		return fmt.Errorf("implausible inflated size: %d bytes claim to inflate to %d", packed, size)
	}
	if b.used+size > anyTotal+MaxRatio*uint64(file) {
		return fmt.Errorf("implausible inflated size: %d bytes, after %d bytes of other sections, in a file of %d bytes", size, b.used, file)
	}
	b.used += size
	return nil
}

// Codec is a format of compressed sections.
type Codec uint8

const (
	Zlib Codec = iota // RFC 1950
	Zstd              // RFC 8878
)

// Stream inflates a section step by step.
type Stream struct {
	Data []byte // as long as the section; To makes its beginning valid

	r    io.Reader
	have uint64 // valid bytes of Data; all if r is nil
}

// Open begins to inflate packed. size is the inflated size, which a Budget has accepted. Pages of a
// large allocation cost nothing until they are written to.
func Open(c Codec, packed []byte, size uint64) (*Stream, error) {
	open := openZlib
	if c == Zstd {
		open = openZstd
	}
	r, err := open(packed)
	if err != nil {
		return nil, err
	}
	return &Stream{Data: make([]byte, size), r: r}, nil
}

// To makes the first n bytes of Data valid, or all if there are fewer. more is false when all are
// valid, and after an error, which tells how many bytes are valid.
func (s *Stream) To(n uint64) (more bool, err error) {
	n = min(n, uint64(len(s.Data)))
	if s.r == nil || n <= s.have {
		return s.r != nil, nil
	}
	got, err := io.ReadFull(s.r, s.Data[s.have:n])
	s.have += uint64(got)
	if err != nil || s.have == uint64(len(s.Data)) {
		s.r = nil
	}
	if err != nil {
		return false, fmt.Errorf("only %d of %d bytes could be inflated: %w", s.have, len(s.Data), err)
	}
	return s.r != nil, nil
}

func openZlib(raw []byte) (io.Reader, error) { return zlib.NewReader(bytes.NewReader(raw)) }

// openZstd opens a decoder that works in the caller's goroutine and needs no Close.
func openZstd(raw []byte) (io.Reader, error) {
	return zstd.NewReader(bytes.NewReader(raw), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
}
