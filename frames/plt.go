package frames

import (
	"bytes"

	"dbg/arch"
	"dbg/target"
)

// Stubs of x86's procedure linkage tables, psABI 5.2 and binutils' elf_x86_64_lazy_plt,
// _lazy_ibt_plt and _non_lazy_plt. A stub is entered with the return address
// on top of the stack; the lazy path pushes first the relocation's index, then (in
// PLT0) the link map. each entry is what the code at PC may be, and how far above SP the return
// address is before it is executed.
var pltCode = []struct {
	code []byte
	ra   int
}{
	{[]byte{0xf3, 0x0f, 0x1e, 0xfa}, 0}, // endbr64
	{[]byte{0xff, 0x25}, 0},             // jmp *slot(%rip)
	{[]byte{0xf2, 0xff, 0x25}, 0},       // bnd jmp
	{[]byte{0x68}, 0},                   // push $index
	{[]byte{0xe9}, 1},                   // jmp PLT0
	{[]byte{0xf2, 0xe9}, 1},             // bnd jmp PLT0
	{[]byte{0xff, 0x35}, 1},             // PLT0: push link map
	// i386, elf_i386_lazy_plt and its kin.
	{[]byte{0xf3, 0x0f, 0x1e, 0xfb}, 0}, // endbr32
	{[]byte{0xff, 0xa3}, 0},             // jmp *slot(%ebx)
	{[]byte{0xff, 0xb3}, 1},             // PLT0: push link map(%ebx)
}

// plt finds the caller of a PLT stub that no table covers. Only a precise PC can be there:
// stubs don't call.
func (w *Walk) plt(s *site) bool {
	if s.module == nil || w.frame.PCIsReturnAddress {
		return false
	}
	in := false
	for _, r := range s.module.PLT {
		in = in || r.Lo <= s.filePC() && s.filePC() < r.Hi
	}
	if !in {
		return false
	}
	switch w.u.arch {
	case arch.AMD64, arch.I386:
	case arch.ARM64, arch.RISCV64, arch.ARM:
		return w.leaf(PLT)
	default:
		return w.failed(PLT, "stubs of this architecture are not known")
	}
	for _, p := range pltCode {
		if !bytes.HasPrefix(s.at(), p.code) {
			continue
		}
		ra := p.ra
		b := s.before()
		if n := len(b); n >= 6 && p.code[0] == 0xff && p.ra == 0 && b[n-6] == 0xff && (b[n-5] == 0x35 || b[n-5] == 0xb3) {
			ra = 2 // PLT0's second instruction
		}
		return w.returnAt(PLT, ra, false)
	}
	return w.failed(PLT, "the stub's code is not known")
}

// returnAt is for a frame that has pushed n words since it was called: the return address
// is above them. All callee-saved registers are as they were, save that
// the word pushed last may be the frame pointer.
func (w *Walk) returnAt(how Strategy, n int, fpPushed bool) bool {
	a, c := w.u.arch, &w.caller
	sp, known := w.frame.Regs.SP()
	if !known {
		return w.failed(how, "the stack pointer is not known")
	}
	at := target.Addr(sp) + target.Addr(n*a.PtrSize)
	ra, err := w.words.Word(at, a.PtrSize)
	if err != nil {
		return w.unreadable(how, err)
	}
	c.Start(w.preserved())
	c.CFA = uint64(at) + uint64(a.PtrSize)
	c.SetSP(a, c.CFA)
	c.SetPC(a, ra, at, true)
	if fpPushed {
		v, err := w.words.Word(target.Addr(sp), a.PtrSize)
		if err != nil {
			return w.unreadable(how, err)
		}
		c.SetSaved(a.FP, v, target.Addr(sp))
	}
	return w.judge(how)
}

// leaf is for a frame whose return address is still in the link register.
func (w *Walk) leaf(how Strategy) bool {
	a, c := w.u.arch, &w.caller
	sp, known := w.frame.Regs.SP()
	lr, knownLR := w.frame.Regs.Get(a.LR)
	if !known || !knownLR {
		return w.failed(how, "stack pointer or link register are not known")
	}
	c.Start(w.preserved())
	c.CFA = sp
	c.SetSP(a, sp)
	c.SetPC(a, w.code64(lr), 0, false)
	return w.judge(how)
}
