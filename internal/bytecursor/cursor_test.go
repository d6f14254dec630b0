package bytecursor

import (
	"errors"
	"math/big"
	"strings"
	"testing"
)

// TestLEB128 has the numbers that the package comment's policy is about.
func TestLEB128(t *testing.T) {
	short, malformed := ErrCutShort, ErrMalformed
	zeros, ones := strings.Repeat("\x80", 9), strings.Repeat("\xff", 9)
	for _, c := range []struct {
		bytes       string
		unsigned    uint64
		unsignedErr error
		signed      int64
		signedErr   error
	}{
		// The examples of DWARF 5, tables 7.7 and 7.8.
		{bytes: "\x02", unsigned: 2, signed: 2},
		{bytes: "\x7f", unsigned: 127, signed: -1},
		{bytes: "\x7e", unsigned: 126, signed: -2},
		{bytes: "\x80\x01", unsigned: 128, signed: 128},
		{bytes: "\x81\x01", unsigned: 129, signed: 129},
		{bytes: "\xff\x00", unsigned: 127, signed: 127},
		{bytes: "\x81\x7f", unsigned: 16257, signed: -127},
		{bytes: "\xff\x7e", unsigned: 16255, signed: -129},
		// Padding.
		{bytes: "\x80\x80\x80\x00", unsigned: 0, signed: 0},
		{bytes: "\x82\x80\x80\x80\x00", unsigned: 2, signed: 2},
		{bytes: "\xff\xff\xff\x7f", unsigned: 1<<28 - 1, signed: -1},
		{bytes: strings.Repeat("\x80", 15) + "\x00", unsigned: 0, signed: 0},
		{bytes: strings.Repeat("\x80", 16) + "\x00", unsignedErr: malformed, signedErr: malformed},
		{bytes: strings.Repeat("\xff", 15) + "\x7f", unsignedErr: malformed, signed: -1},
		{bytes: strings.Repeat("\xff", 16) + "\x7f", unsignedErr: malformed, signedErr: malformed},
		// The ends of what fits.
		{bytes: ones + "\x01", unsigned: 1<<64 - 1, signedErr: malformed},
		{bytes: ones + "\x81\x80\x00", unsigned: 1<<64 - 1, signedErr: malformed},
		{bytes: ones + "\x02", unsignedErr: malformed, signedErr: malformed},
		{bytes: ones + "\x81\x01", unsignedErr: malformed, signedErr: malformed},
		{bytes: ones + "\x00", unsigned: 1<<63 - 1, signed: 1<<63 - 1},
		{bytes: ones + "\x80\x80\x00", unsigned: 1<<63 - 1, signed: 1<<63 - 1},
		{bytes: ones + "\x7f", unsignedErr: malformed, signed: -1},
		{bytes: zeros + "\x7f", unsignedErr: malformed, signed: -1 << 63},
		{bytes: zeros + "\xff\x7f", unsignedErr: malformed, signed: -1 << 63},
		{bytes: zeros + "\xff\x00", unsignedErr: malformed, signedErr: malformed},
		{bytes: zeros + "\x01", unsigned: 1 << 63, signedErr: malformed},
		{bytes: "\xff\xff\xff\xff\xff\xff\xff\xff\x7f", unsigned: 1<<63 - 1, signed: -1},
		{bytes: "\x80\x80\x80\x80\x80\x80\x80\x80\x40", unsigned: 1 << 62, signed: -1 << 62},
		// The end of the data.
		{bytes: "", unsignedErr: short, signedErr: short},
		{bytes: "\x80\x80", unsignedErr: short, signedErr: short},
		{bytes: zeros, unsignedErr: short, signedErr: short},
		{bytes: zeros + "\x80", unsignedErr: short, signedErr: short},
	} {
		data := []byte("xx" + c.bytes)
		u, s := Cursor{Data: data, Pos: 2}, Cursor{Data: data, Pos: 2}
		got := u.ULEB()
		check(t, c.bytes, &u, c.unsignedErr)
		if got != c.unsigned {
			t.Errorf("% x: unsigned %d, want %d", c.bytes, got, c.unsigned)
		}
		signed := s.SLEB()
		check(t, c.bytes, &s, c.signedErr)
		if signed != c.signed {
			t.Errorf("% x: signed %d, want %d", c.bytes, signed, c.signed)
		}
	}
}

func check(t *testing.T, what string, c *Cursor, kind error) {
	t.Helper()
	err := c.Err()
	if kind == nil && err != nil || !errors.Is(err, kind) {
		t.Errorf("% x: %v, want %v", what, err, kind)
	}
	if c.More() {
		t.Errorf("% x: %d bytes are left", what, c.Left())
	}
	var e *Error
	if err != nil && (!errors.As(err, &e) || e.Offset != 2) {
		t.Errorf("% x: %#v, want offset 2", what, err)
	}
}

// FuzzLEB128 holds the numbers against arithmetic of any size.
func FuzzLEB128(f *testing.F) {
	for _, s := range []string{"\x80\x80\x00", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x7f"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, n := new(big.Int), 0
		for n < len(data) {
			b := data[n]
			v.Or(v, new(big.Int).Lsh(big.NewInt(int64(b&0x7f)), uint(7*n)))
			if n++; b < 0x80 {
				break
			}
		}
		ended := n > 0 && data[n-1] < 0x80
		u, s := Cursor{Data: data}, Cursor{Data: data}
		gotU, gotS := u.ULEB(), s.SLEB()
		legal := ended && n <= MaxLEB
		if ok := legal && v.IsUint64(); ok != (u.Err() == nil) || ok && (gotU != v.Uint64() || u.Pos != n) {
			t.Errorf("% x: unsigned %d up to %d, %v; want %v up to %d", data, gotU, u.Pos, u.Err(), v, n)
		}
		if ended && data[n-1]&0x40 != 0 {
			v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(7*n)))
		}
		if ok := legal && v.IsInt64(); ok != (s.Err() == nil) || ok && (gotS != v.Int64() || s.Pos != n) {
			t.Errorf("% x: signed %d up to %d, %v; want %v up to %d", data, gotS, s.Pos, s.Err(), v, n)
		}
		if ended && n <= SureLEB && (u.Err() != nil || s.Err() != nil) {
			t.Errorf("% x: %v, %v", data, u.Err(), s.Err())
		}
		if !ended && errors.Is(u.Err(), ErrMalformed) && n < 10 {
			t.Errorf("% x: %v, but more data could make it legal", data, u.Err())
		}
	})
}

func TestFixedSizes(t *testing.T) {
	data := []byte{0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89}
	for _, c := range []struct {
		size        int
		little, big uint64
		signed      int64 // little-endian
	}{
		{1, 0x81, 0x81, -0x7f},
		{2, 0x8281, 0x8182, -0x7d7f},
		{4, 0x84838281, 0x81828384, -0x7b7c7d7f},
		{8, 0x8887868584838281, 0x8182838485868788, -0x7778797a7b7c7d7f},
	} {
		for _, is := range []bool{false, true} {
			r := Cursor{Data: data, Big: is}
			want := c.little
			if is {
				want = c.big
			}
			if got := r.Uint(c.size); got != want || r.Pos != c.size || r.Err() != nil {
				t.Errorf("%d bytes, big %v: 0x%x at %d, %v", c.size, is, got, r.Pos, r.Err())
			}
			r = Cursor{Data: data[:c.size], Pos: 1, Big: is}
			if got := r.Uint(c.size); got != 0 || r.More() || !errors.Is(r.Err(), ErrCutShort) {
				t.Errorf("%d bytes, cut short: 0x%x, %v", c.size, got, r.Err())
			}
		}
		if r := (Cursor{Data: data}); r.Int(c.size) != c.signed {
			t.Errorf("%d bytes, signed: want %d", c.size, c.signed)
		}
	}
	if r := (Cursor{Data: data}); r.U24() != 0x838281 {
		t.Error("3 bytes, little-endian")
	}
	if r := (Cursor{Data: data, Big: true}); r.U24() != 0x818283 {
		t.Error("3 bytes, big-endian")
	}
	r := Cursor{Data: data, Pos: 1}
	if r.Uint(3); !errors.Is(r.Err(), ErrUnsupported) || r.Err().Error() != "a number of 3 bytes at offset 0x1" {
		t.Errorf("3 bytes: %v", r.Err())
	}
}

func TestInitialLength(t *testing.T) {
	for _, c := range []struct {
		bytes  string
		length uint64
		is64   bool
		err    string
	}{
		{"\x10\x00\x00\x00", 16, false, ""},
		{"\xef\xff\xff\xff", 0xffffffef, false, ""},
		{"\xff\xff\xff\xff\x10\x00\x00\x00\x00\x00\x00\x00", 16, true, ""},
		{"\xf0\xff\xff\xff", 0, false, "the reserved length 0xfffffff0 at offset 0x0"},
		{"\xfe\xff\xff\xff", 0, false, "the reserved length 0xfffffffe at offset 0x0"},
		{"\xff\xff\xff\xff\x10", 0, true, "an 8-byte number is cut short at offset 0x4"},
		{"\xff\xff", 0, false, "a 4-byte number is cut short at offset 0x0"},
	} {
		r := Cursor{Data: []byte(c.bytes)}
		length, is64 := r.InitialLength()
		text := ""
		if r.Err() != nil {
			text = r.Err().Error()
		}
		if length != c.length || is64 != c.is64 || text != c.err {
			t.Errorf("% x: %d, %v, %q; want %d, %v, %q", c.bytes, length, is64, text, c.length, c.is64, c.err)
		}
	}
}

// TestSticky: the first error stays, and everything after it is zero.
func TestSticky(t *testing.T) {
	r := Cursor{Data: []byte("abc\x00defgh")}
	if s := r.CString(); string(s) != "abc" || r.Pos != 4 {
		t.Errorf("%q, then at %d", s, r.Pos)
	}
	if b := r.Block(2); string(b) != "de" || cap(b) != 2 {
		t.Errorf("%q with room for %d", b, cap(b))
	}
	if b := r.Block(1 << 63); b != nil {
		t.Errorf("%q", b)
	}
	want := "a block is cut short at offset 0x6"
	for range 2 {
		if r.Err() == nil || r.Err().Error() != want || r.More() {
			t.Errorf("%v with %d bytes left, want %q", r.Err(), r.Left(), want)
		}
		if r.U8() != 0 || r.ULEB() != 0 || r.SLEB() != 0 || r.U64() != 0 || r.CString() != nil {
			t.Error("a number after an error")
		}
		r.Unsupported(3, "a form")
	}
}

func BenchmarkULEB(b *testing.B) {
	for _, c := range []struct{ name, bytes string }{{"1", "\x05"}, {"2", "\x85\x05"}, {"5", "\x85\x85\x85\x85\x05"}} {
		b.Run(c.name, func(b *testing.B) {
			data := []byte(strings.Repeat(c.bytes, 1000))
			for b.Loop() {
				r := Cursor{Data: data}
				for r.More() {
					r.ULEB()
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/number")
		})
	}
}

func TestRestart(t *testing.T) {
	r := Cursor{Data: []byte("\x01\x02\x03\x80")}
	r.Pos = 3
	r.ULEB()
	r.Restart(1, 3)
	if r.U8() != 2 || r.U8() != 3 || r.Err() != nil || r.More() {
		t.Errorf("at %d, %v", r.Pos, r.Err())
	}
	r.Restart(2, 4)
	if r.U8() != 3 || r.ULEB() != 0 || !errors.Is(r.Err(), ErrCutShort) {
		t.Errorf("at %d, %v", r.Pos, r.Err())
	}
}
