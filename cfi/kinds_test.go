package cfi_test

import (
	"bytes"
	"errors"
	"testing"

	"dbg/arch"
	"dbg/cfi"
	"dbg/internal/bytecursor"
	"dbg/row"
)

// TestErrorKinds checks that the error of an entry tells whether its data is cut short, invalid or
// not supported.
func TestErrorKinds(t *testing.T) {
	encoded := []byte{1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x0d, 0x0c, 7, 8, 0x90, 1}
	for _, c := range []struct {
		name  string
		cie   []byte
		instr []byte
		kind  error
	}{
		{"an operand that ends", plain, []byte{0x0e, 0x80}, bytecursor.ErrCutShort},
		{"an expression that ends", plain, []byte{0x0f, 9, 0x77}, bytecursor.ErrCutShort},
		{"an operand of more than 64 bits", plain, append([]byte{0x05, 6}, bytes.Repeat([]byte{0xff}, 12)...), bytecursor.ErrMalformed},
		{"an operand of more than 16 bytes", plain, append(append([]byte{0x05, 6}, bytes.Repeat([]byte{0x80}, 16)...), 0), bytecursor.ErrMalformed},
		{"an unknown pointer encoding", encoded, []byte{0, 0, 0, 0, 0, 0, 0}, bytecursor.ErrUnsupported},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &builder{a: arch.AMD64}
			b.fde(b.cie(c.cie...), 0x1000, 0x100, c.instr...)
			var err error
			for f, e := range b.table().FDEs() {
				if err = e; err == nil {
					for _, e := range b.table().Rows(f) {
						err = e
					}
				}
			}
			var entry *cfi.Error
			if !errors.As(err, &entry) || !errors.Is(err, c.kind) {
				t.Errorf("%v, want an Error of the kind %v", err, c.kind)
			}
		})
	}
	// Padding is legal.
	b := &builder{a: arch.AMD64}
	b.fde(b.cie(plain...), 0x1000, 0x100, append([]byte{0x0e, 0xa0}, append(bytes.Repeat([]byte{0x80}, 11), 0)...)...)
	var r row.Row
	if err := b.table().RowAt(0x1000, &r); err != nil || r.CFA.N != 32 {
		t.Errorf("a padded operand: %d, %v", r.CFA.N, err)
	}
}
