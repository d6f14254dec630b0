package compact

import (
	"encoding/binary"

	"dbg/arch"
	"dbg/code"
	"dbg/code/flow"
	"dbg/row"
	"dbg/row/compiled"
)

// StubKind is a kind of section with code that the linker writes.
type StubKind uint8

const (
	// Stubs is __stubs, __auth_stubs or __objc_stubs: jumps through a pointer, without stack use.
	Stubs StubKind = iota
	// StubHelper is __stub_helper. Each entry sets its number (on the stack on x86-64, in W16 on
	// arm64) and jumps to the header. The header is at the start of the section; it pushes
	// another word and jumps to dyld.
	StubHelper
)

// StubRows calls fn for the rows of such a section, by rising address, like EachRow. text is its
// code from address lo on. The padding, and the numbers of arm64's entries, have no rows. No
// table covers these sections.
func StubRows(a *arch.Arch, kind StubKind, lo uint64, text []byte, fn func(lo, hi uint64, r *row.Row, hash uint64) bool) bool {
	if !refinable(a) {
		return true
	}
	text = text[:min(len(text), maxText)]
	var f flow.Flow
	f.Reset(a, lo, text)
	if kind == StubHelper {
		for at := 0; at < len(text); {
			if n := helper(a, text[at:]); n > 0 {
				f.Follow(lo+uint64(at), flow.Entry(a)) // this continues in the header
				at += n
			} else {
				at += a.MinInstr
			}
		}
	} else {
		for pc := lo; ; {
			from, to := f.Gap(pc)
			if from == to {
				break
			}
			if pc = from + uint64(code.Padding(a, text[from-lo:to-lo])); pc < to {
				f.Follow(pc, flow.Entry(a))
				if f.Number(pc) < 0 {
					break
				}
			}
		}
	}
	var r row.Row
	end := lo
	ok := true
	f.Each(func(pc uint64, size, n int) bool {
		frame := &f.Frames()[n]
		if size == 0 || pc < end || !frame.CFA.Known() {
			return true
		}
		frame.Row(&r)
		end = pc + uint64(size)
		r.Lo, r.Hi, r.Source = pc, end, 0
		ok = fn(pc, end, &r, compiled.HashRow(&r))
		return ok
	})
	return ok
}

// helper returns the length of the entry of __stub_helper at the start of b, or 0 if there is
// none: push $n; jmp header, or ldr w16, n; b header; n.
func helper(a *arch.Arch, b []byte) int {
	switch {
	case a == arch.ARM64 && len(b) >= 12 && binary.LittleEndian.Uint32(b) == 0x18000050 && b[7]>>2 == 5:
		return 12
	case a == arch.AMD64 && len(b) >= 10 && b[0] == 0x68 && b[5] == 0xe9:
		return 10
	}
	return 0
}
