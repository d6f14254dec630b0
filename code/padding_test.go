package code

import (
	"testing"

	"dbg/arch"
)

func TestPadding(t *testing.T) {
	for _, c := range []struct {
		arch *arch.Arch
		text string
		want int
	}{
		{arch.AMD64, "\x66\x0f\x1f\x44\x00\x00\x90\xcc\x66\x90\xc3", 10},
		{arch.AMD64, "\x8d\x76\x00", 0}, // changes the upper half of rsi
		{arch.I386, "\x8d\x76\x00\x8d\x74\x26\x00\x8d\xb6\x00\x00\x00\x00\x8d\xb4\x26\x00\x00\x00\x00\x89\xf6\xc3", 22},
		{arch.I386, "\x8d\x76\x01", 0}, // lea 1(%esi),%esi
		{arch.I386, "\x8d\x7e\x00", 0}, // lea 0(%esi),%edi
		{arch.I386, "\x89\xe5", 0},     // mov %esp,%ebp
		{arch.ARM64, "\x1f\x20\x03\xd5\x00\x00\x00\x00\xc0\x03\x5f\xd6", 8},
		{arch.ARM, "\x00\xf0\x20\xe3\x00\x00\xa0\xe1\x0e\xf0\xa0\xe1", 8},
		{arch.RISCV64, "\x01\x00\x13\x00\x00\x00\x02\x90\x82\x80", 8},
		{arch.RISCV64, "\x90\x00", 0}, // addi a2, sp, 64
	} {
		if n := Padding(c.arch, []byte(c.text)); n != c.want {
			t.Errorf("%s: % x: %d, want %d", c.arch.Name, c.text, n, c.want)
		}
	}
}
