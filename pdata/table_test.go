package pdata_test

import (
	"strings"
	"testing"

	"dbg/arch"
	"dbg/pdata"
	"dbg/row"
)

const base = 0x180000000

// amd64Image is an image of x64 with one function of 0x100 bytes at RVA 0x1000, whose unwind
// information is at RVA 0x2000.
type amd64Image struct {
	info   []byte
	code   []byte
	memory map[uint32][]byte // more of the image
}

func (x *amd64Image) table(t testing.TB) *pdata.Table {
	t.Helper()
	text := make([]byte, 0x100)
	for i := range text {
		text[i] = 0x90
	}
	copy(text, x.code)
	if x.memory == nil {
		x.memory = map[uint32][]byte{}
	}
	x.memory[0x1000], x.memory[0x2000] = text, x.info
	return newTable(t, arch.AMD64, words(0x1000, 0x1100, 0x2000), x.memory)
}

func newTable(t testing.TB, a *arch.Arch, data []byte, memory map[uint32][]byte) *pdata.Table {
	t.Helper()
	tab, err := pdata.New(pdata.Config{Arch: a, Data: data, Base: base, Read: func(addr uint64, n int) []byte {
		for rva, b := range memory {
			if off := addr - base - uint64(rva); off < uint64(len(b)) && n <= len(b)-int(off) {
				return b[off:][:n]
			}
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func words(list ...uint32) (b []byte) {
	for _, w := range list {
		b = append(b, byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
	}
	return b
}

// at returns the row at an offset of the function at RVA 0x1000, as text, or the error.
func at(tab *pdata.Table, a *arch.Arch, off uint64) string {
	var r row.Row
	if err := tab.RowAt(base+0x1000+off, &r); err != nil {
		return err.Error()
	}
	_, text, _ := strings.Cut(r.Format(a), " ")
	return text
}

// TestAMD64 has functions of x64 and the row at offsets in them.
func TestAMD64(t *testing.T) {
	const entry = "cfa=rsp+8 ra=c-8"
	for _, c := range []struct {
		name   string
		info   []byte
		code   string // after the prologue, at 0x10
		memory map[uint32][]byte
		want   map[uint64]string
	}{
		{name: "pushes and an allocation", info: []byte{1, 6, 3, 0, 6, 0x32, 2, 0x60, 1, 0x50, 0, 0},
			code: "\x48\x83\xc4\x20\x5e\x5d\xc3", // add rsp, 32; pop rsi; pop rbp; ret
			want: map[uint64]string{0: entry, 1: "cfa=rsp+16 rbp=c-16 ra=c-8", 2: "cfa=rsp+24 rsi=c-24 rbp=c-16 ra=c-8", 6: "cfa=rsp+56 rsi=c-24 rbp=c-16 ra=c-8",
				0x10: "cfa=rsp+56 rsi=c-24 rbp=c-16 ra=c-8", 0x14: "cfa=rsp+24 rsi=c-24 rbp=c-16 ra=c-8", 0x15: "cfa=rsp+16 rbp=c-16 ra=c-8", 0x16: entry,
				0x17: "cfa=rsp+56 rsi=c-24 rbp=c-16 ra=c-8"}},
		{name: "a mid-function jump is no epilogue", info: []byte{1, 4, 1, 0, 4, 0x42}, code: "\xe9\x00\x10\x00\x00\x48\x83\xc4\x28\xe9\x00\x10\x00\x00",
			want: map[uint64]string{0x10: "cfa=rsp+48 ra=c-8", 0x15: "cfa=rsp+48 ra=c-8", 0x19: entry, 0x1e: "cfa=rsp+48 ra=c-8"}},
		{name: "a jump through a register after a whole epilogue", info: []byte{1, 4, 1, 0, 4, 0x42}, code: "\xff\xe0\x48\x83\xc4\x28\x48\xff\xe0",
			want: map[uint64]string{0x10: "cfa=rsp+48 ra=c-8", 0x12: "cfa=rsp+48 ra=c-8", 0x16: entry}},
		{name: "less than the whole frame before a jump", info: []byte{1, 4, 1, 0, 4, 0x42}, code: "\x48\x83\xc4\x20\xff\xe0",
			want: map[uint64]string{0x14: "cfa=rsp+48 ra=c-8"}},
		{name: "a frame register after alloca", info: []byte{1, 8, 3, 0x25, 8, 0x03, 5, 0x42, 1, 0x50}, code: "\x48\x8d\x65\x08\x5d\xc3", // lea rsp, [rbp+8]; pop rbp; ret
			want: map[uint64]string{5: "cfa=rsp+56 rbp=c-16 ra=c-8", 8: "cfa=rbp+24 rbp=c-16 ra=c-8", 0x14: "cfa=rsp+16 rbp=c-16 ra=c-8", 0x15: entry}},
		{name: "saved by moves", info: []byte{1, 8, 5, 0, 8, 0x68, 2, 0, 8, 0x34, 6, 0, 8, 0x42, 0, 0}[:16],
			want: map[uint64]string{7: entry, 8: "cfa=rsp+48 rbx=c+0 xmm6=c-16 ra=c-8"}},
		{name: "far forms and a large allocation", info: []byte{1, 9, 9, 0, 9, 0x79, 0x10, 0, 1, 0, 9, 0x35, 8, 0, 1, 0, 9, 0x11, 0, 0, 2, 0},
			want: map[uint64]string{9: "cfa=rsp+131080 rbx=c-65536 xmm7=c-65528 ra=c-8"}},
		{name: "machine frame", info: []byte{1, 1, 2, 0, 1, 0x02, 0, 0x0a},
			want: map[uint64]string{0: "cfa=rsp+40 rsp=c-16 eflags=c-24 cs=c-32 ss=c-8 ra=c-40 signal", 1: "cfa=rsp+48 rsp=c-16 eflags=c-24 cs=c-32 ss=c-8 ra=c-40 signal"}},
		{name: "machine frame with an error code", info: []byte{1, 0, 1, 0, 0, 0x1a},
			want: map[uint64]string{0: "cfa=rsp+48 rsp=c-16 eflags=c-24 cs=c-32 ss=c-8 ra=c-40 signal"}},
		{name: "chained", info: append([]byte{0x21, 5, 2, 0, 5, 0x34, 4, 0}, words(0x3000, 0x3100, 0x2100)...), memory: map[uint32][]byte{0x2100: {1, 4, 1, 0, 4, 0x42}},
			want: map[uint64]string{0: "cfa=rsp+48 ra=c-8", 5: "cfa=rsp+48 rbx=c-16 ra=c-8"}},
		{name: "version 2", info: []byte{2, 6, 4, 0, 2, 0x16, 6, 0x06, 6, 0x32, 1, 0x50}, code: "\x48\x83\xc4\x20\x5d\xc3",
			want: map[uint64]string{6: "cfa=rsp+48 rbp=c-16 ra=c-8", 0x14: "cfa=rsp+16 rbp=c-16 ra=c-8", 0x15: entry}},
		// push rbp at 0, sub rsp, 32 at 1; an epilogue at 0x80: add at 0, pop at 4, ret at 5.
		{name: "version 3", info: []byte{3, 5, 7, 2 | 1<<5, 1, 0, 2 << 3, 0x80, 0, 0, 0, 5, 0, 4, 0x38, 0x2c, 0, 0}, want: map[uint64]string{0: entry, 1: "cfa=rsp+16 rbp=c-16 ra=c-8",
			2: "cfa=rsp+48 rbp=c-16 ra=c-8", 0x7f: "cfa=rsp+48 rbp=c-16 ra=c-8", 0x80: "cfa=rsp+48 rbp=c-16 ra=c-8", 0x81: "cfa=rsp+16 rbp=c-16 ra=c-8",
			0x84: "cfa=rsp+16 rbp=c-16 ra=c-8", 0x85: entry, 0x86: "cfa=rsp+48 rbp=c-16 ra=c-8"}},

		{name: "version 4", info: []byte{4, 0, 0, 0}, want: map[uint64]string{0: ".pdata at 0x0: unsupported version 4 of the unwind information at RVA 0x2000"}},
		{name: "unknown code", info: []byte{1, 1, 1, 0, 1, 0x0b}, want: map[uint64]string{0: ".pdata at 0x0: unknown unwind code 11 in version 1"}},
		{name: "cut code", info: []byte{1, 1, 1, 0, 1, 0x01}, want: map[uint64]string{0: ".pdata at 0x0: unwind code 1 needs 2 slots, and 1 are left"}},
		{name: "no codes", info: []byte{1, 1, 9, 0}, want: map[uint64]string{0: ".pdata at 0x0: the 18 bytes of unwind codes at RVA 0x2004 are not in the image"}},
		{name: "chained to itself", info: append([]byte{0x21, 0, 0, 0}, words(0x1000, 0x1100, 0x2000)...), want: map[uint64]string{0: ".pdata at 0x0: more than 32 chained entries"}},
		{name: "codes after a machine frame", info: []byte{1, 2, 2, 0, 2, 0x0a, 1, 0x50}, want: map[uint64]string{0: ".pdata at 0x0: an operation follows a frame of the processor or a context"}},
		{name: "no frame register", info: []byte{1, 1, 1, 0, 1, 0x03}, want: map[uint64]string{0: ".pdata at 0x0: a frame register is set, but none is named"}},
		{name: "an undocumented frame of version 3", info: []byte{3, 1, 2, 1, 0, 3, 9, 0}, want: map[uint64]string{0: ".pdata at 0x0: a canonical frame of type 9, whose layout is not documented"}},
		{name: "version 3, cut", info: []byte{3, 1, 1, 5, 0, 3}, want: map[uint64]string{0: ".pdata at 0x0: the payload of version 3 is too short"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := amd64Image{info: c.info, memory: c.memory}
			x.code = append([]byte(strings.Repeat("\x90", 16)), c.code...)[:16+len(c.code)]
			tab := x.table(t)
			for off, want := range c.want {
				if got := at(tab, arch.AMD64, off); got != want {
					t.Errorf("at 0x%x: %s\nwant %s", off, got, want)
				}
			}
		})
	}
}
