package code

import (
	"testing"

	"dbg/arch"
)

func TestFrameSetup(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{
		{"\x55\x48\x89\xe5\x90", 4},
		{"\xf3\x0f\x1e\xfa\x55\x48\x8b\xec", 8},
		{"\x40\x55\x89\xe5", 4},
		{"\xf3\x0f\x1e\xfa\x55\x90", 0},
		{"\x48\x89\xe5", 0},
		{"", 0},
	} {
		if got := FrameSetup(arch.AMD64, []byte(c.text)); got != c.want {
			t.Errorf("% x: %d, want %d", c.text, got, c.want)
		}
	}
}

func TestReturnsOrIdles(t *testing.T) {
	for _, c := range []struct {
		a    *arch.Arch
		text string
		want bool
	}{
		{arch.AMD64, "\x90\xc3", true},
		{arch.AMD64, "\x90\x90", true},
		{arch.AMD64, "\x90\x55", false},
		{arch.AMD64, "\x06\xc3", false}, // not an instruction of 64-bit code
		{arch.AMD64, "", false},
		{arch.ARM64, "\x1f\x20\x03\xd5\xc0\x03\x5f\xd6", true},
		{arch.ARM64, "\x1f\x20\x03\xd5", false},
	} {
		if got := ReturnsOrIdles(c.a, []byte(c.text)); got != c.want {
			t.Errorf("%s % x: %t", c.a.Name, c.text, got)
		}
	}
}
