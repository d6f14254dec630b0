package frames

import (
	"bytes"

	"dbg/arch"
)

// prologue finds the caller where no table covers PC, but the instructions show where
// the return address is: at once for the first and the last ones of a function,
// else by reading from its start to PC (start.go) or from PC to its return (ahead.go). It also covers calls
// to nowhere.
func (w *Walk) prologue(s *site) bool {
	if w.frame.PCIsReturnAddress {
		if !s.exec {
			return w.failed(Prologue, "PC is not in executable memory")
		}
		return w.byStart(s) || w.ahead(s)
	}
	a := w.u.arch
	if !s.exec {
		// A call through a null or garbage pointer: nothing of the "function" has
		// run, so the state is the one at its entry.
		if a.LR != arch.NoReg {
			return w.leaf(Prologue)
		}
		return w.returnAt(Prologue, 0, false)
	}
	if w.byStart(s) {
		return true
	}
	at, before := s.at(), s.before()
	switch a {
	case arch.AMD64, arch.I386:
		switch {
		case has(at, 0xf3, 0x0f, 0x1e, 0xfa), has(at, 0xf3, 0x0f, 0x1e, 0xfb), // endbr64, endbr32
			has(at, 0x55) && startsFunction(before),           // push %rbp
			has(at, 0xc3), has(at, 0xc2), has(at, 0xf3, 0xc3): // ret
			if w.returnAt(Prologue, 0, false) {
				return true
			}
		case bytes.HasSuffix(before, []byte{0x55}) && movSPtoFP(at, a == arch.AMD64), // after push %rbp
			has(at, 0x5d, 0xc3): // pop %rbp; ret
			if w.returnAt(Prologue, 1, true) {
				return true
			}
		}
	case arch.ARM64:
		if len(at) < 4 {
			break
		}
		switch op := a.ByteOrder.Uint32(at); {
		case op == 0xd65f03c0, op == 0xd65f0bff, op == 0xd65f0fff, // ret, retaa, retab
			op&0xffc07fff == 0xa9807bfd,        // stp x29, x30, [sp, #-n]!
			op == 0xd503233f, op == 0xd503237f, // paciasp, pacibsp
			op == 0xd503245f, op == 0xd50324df: // bti c, bti jc
			return w.leaf(Prologue)
		}
	}
	return w.byLink(s) || w.ahead(s)
}

// byStart reads the function's code from its start to PC: where symbols say where it
// starts, or where a call on the stack has entered it.
func (w *Walk) byStart(s *site) bool {
	if r := w.startOf(s); r.why == "" && w.byCode(r) {
		return true
	}
	return w.byCalls(s)
}

// startsFunction reports whether what is before an address is the end of another function, padding, or
// endbr64.
func startsFunction(before []byte) bool {
	if len(before) == 0 {
		return true
	}
	switch before[len(before)-1] {
	case 0xc3, 0xcc, 0x90, 0x00: // ret, int3, nop, the end of a long nop
		return true
	}
	return bytes.HasSuffix(before, []byte{0xf3, 0x0f, 0x1e, 0xfa})
}

func has(b []byte, code ...byte) bool { return bytes.HasPrefix(b, code) }

// movSPtoFP recognises mov %rsp,%rbp in both its encodings.
func movSPtoFP(b []byte, long bool) bool {
	if long {
		if !has(b, 0x48) {
			return false
		}
		b = b[1:]
	}
	return has(b, 0x89, 0xe5) || has(b, 0x8b, 0xec)
}
