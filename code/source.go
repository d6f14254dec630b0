package code

import (
	"bytes"

	"dbg/arch"
)

// FrameSetup returns the length in bytes of the instructions at the start of a function that set up
// its frame: on x86-64, an optional endbr64, push %rbp and mov %rsp,%rbp. It returns 0 if there are
// none.
func FrameSetup(a *arch.Arch, text []byte) int {
	if a != arch.AMD64 {
		return 0
	}
	rest := text
	skip := func(ops ...string) bool {
		for _, op := range ops {
			if after, ok := bytes.CutPrefix(rest, []byte(op)); ok {
				rest = after
				return true
			}
		}
		return false
	}
	skip("\xf3\x0f\x1e\xfa")
	// Two encodings of push, and of mov with 64 and 32 bits.
	if skip("\x55", "\x40\x55") && skip("\x48\x89\xe5", "\x48\x8b\xec", "\x89\xe5", "\x8b\xec") {
		return len(text) - len(rest)
	}
	return 0
}

// ReturnsOrIdles reports whether code contains a return instruction, or does nothing: gcc puts a nop
// after a clean-up.
func ReturnsOrIdles(a *arch.Arch, text []byte) bool {
	switch a {
	case arch.AMD64:
		idle := len(text) > 0
		for len(text) > 0 {
			in := Decode(a, text)
			switch {
			case in.Next == Return:
				return true
			case in.Next == Bad, in.Len == 0, int(in.Len) > len(text):
				return false
			}
			idle = idle && isNop(text[:in.Len])
			text = text[in.Len:]
		}
		return idle
	case arch.ARM64:
		for ; len(text) >= 4; text = text[4:] {
			if string(text[:4]) == "\xc0\x03\x5f\xd6" { // ret
				return true
			}
		}
	}
	return false
}

// isNop reports whether an x86-64 instruction is nop, with any prefixes.
func isNop(text []byte) bool {
	text = bytes.TrimLeft(text, "\x66\x2e")
	return string(text) == "\x90" || bytes.HasPrefix(text, []byte("\x0f\x1f"))
}
