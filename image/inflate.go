package image

import (
	"bytes"

	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// Limits on the size that a compressed section may claim to inflate to. Neither format has a
// ratio that is certainly wrong: deflate reaches 1032:1 (RFC 1951: a 258-byte match of 2 bits),
// zstd 32768:1 (RFC 8878: a block of 128 KB in 4 bytes). Real debug sections shrink to a half or
// a tenth. Small sections may have any ratio, since they do no harm.
const (
	anyRatio    = 64 << 20 // up to this size
	maxRatio    = 200      // above it
	maxInflated = 16 << 30 // at most

	anyTotal = 256 << 20 // all sections of a file, above maxRatio times its size
)

// maxWindow limits how far back a zstd stream may refer, and so the decoder's memory. It is
// zstd's own limit at its highest level (--ultra -22).
const maxWindow = 128 << 20

// beginInflate checks the size that a section claims to inflate to, and allocates memory for it.
func (f *File) beginInflate(s *section, raw []byte, open func([]byte) (io.Reader, error)) ([]byte, error) {
	n := s.inflatedSize
	s.packed = true
	if n > maxInflated || n > anyRatio && n/maxRatio > uint64(len(raw)) {
		return nil, fmt.Errorf("implausible inflated size: %d bytes claim to inflate to %d", len(raw), n)
	}
	// Several section headers may refer to the same bytes of the file.
	if f.inflated+n > anyTotal+maxRatio*uint64(len(f.data)) {
		return nil, fmt.Errorf("implausible inflated size: %d bytes, after %d bytes of other sections, in a file of %d bytes", n, f.inflated, len(f.data))
	}
	f.inflated += n
	stream, err := open(raw)
	if err != nil {
		return nil, err
	}
	// Pages of a large allocation cost nothing until they are written to.
	s.stream, s.data = stream, make([]byte, n)
	return s.data, nil
}

func openZlib(raw []byte) (io.Reader, error) { return zlib.NewReader(bytes.NewReader(raw)) }

// openZstd opens a decoder that works in the caller's goroutine and needs no Close.
func openZstd(raw []byte) (io.Reader, error) {
	return zstd.NewReader(bytes.NewReader(raw), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
}

// inflateTo makes the first n bytes of a section valid.
func (s *section) inflateTo(n uint64) error {
	n = min(n, uint64(len(s.data)))
	if s.stream == nil || n <= s.have {
		return nil
	}
	got, err := io.ReadFull(s.stream, s.data[s.have:n])
	s.have += uint64(got)
	if err != nil || s.have == uint64(len(s.data)) {
		s.stream = nil
	}
	if err != nil {
		return fmt.Errorf("only %d of %d bytes could be inflated: %w", s.have, len(s.data), err)
	}
	return nil
}

// damaged records why the data of a section can't be read.
func (f *File) damaged(s *section, err error) {
	s.done, s.data, s.stream = true, nil, nil
	s.err = fmt.Errorf("%s: section %s at offset 0x%x: %w", f.path, s.name, s.off, err)
	f.trouble = append(f.trouble, s.err)
}

// Errors returns an error for each requested section that could not be read.
func (f *File) Errors() []error {
	if f == nil {
		return nil
	}
	return f.trouble
}
