package frames

import (
	"bytes"

	"dbg/arch"
	"dbg/target"
)

// Code of the trampolines to which a handler returns. With the C library's or
// the vDSO's table (augmentation S) they are not needed; musl and Go have no table.
var (
	amd64Sigreturn = []byte{0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05} // mov $15,%rax; syscall
	amd64Short     = []byte{0xb8, 15, 0, 0, 0, 0x0f, 0x05}             // mov $15,%eax; syscall
	arm64Sigreturn = []byte{0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4}
)

// callsSigreturn recognises a signal trampoline by its instructions: PC at the first, or at the
// second when the thread is stopped there.
func (u *Unwinder) callsSigreturn(s *site) bool {
	switch u.arch {
	case arch.AMD64:
		return within(s, amd64Sigreturn, 7) || within(s, amd64Short, 5)
	case arch.ARM64:
		return within(s, arm64Sigreturn, 4)
	}
	return false
}

func within(s *site, code []byte, second int) bool {
	return bytes.HasPrefix(s.at(), code) ||
		s.precise && bytes.HasSuffix(s.before(), code[:second]) && bytes.HasPrefix(s.at(), code[second:])
}

// Where the kernel saves registers, from SP on in the trampoline. amd64: SP points to the
// ucontext, as the return address above it is gone; uc_mcontext is at 40, its
// gregs in the order of <sys/ucontext.h>. arm64: siginfo of 128 bytes, then the
// ucontext, whose mcontext is at 176 (sigmask is 128 bytes, aligned to 16);
// fault_address comes before the registers.
var (
	amd64Context = []arch.Reg{arch.R8, arch.R9, arch.R10, arch.R11, arch.R12, arch.R13, arch.R14, arch.R15,
		arch.RDI, arch.RSI, arch.RBP, arch.RBX, arch.RDX, arch.RAX, arch.RCX, arch.RSP, arch.RIP, arch.RFLAGS}
	arm64Context = func() (r []arch.Reg) {
		for i := range arch.Reg(31) {
			r = append(r, i)
		}
		return append(r, arch.ARM64.SP, arch.ARM64.PC, arch.ARM64.Flags)
	}()
)

const (
	amd64ContextAt = 40
	arm64ContextAt = 128 + 176 + 8
)

// sigreturn takes the interrupted frame's registers from what the kernel saved.
func (w *Walk) sigreturn(s *site) bool {
	byTable := false
	if w.u.Use.Has(CFI) {
		p, err := w.planAt(s)
		byTable = err == nil && p.Row.Signal
	}
	if !byTable && !s.sigcode {
		return false
	}
	w.frame.Signal = true
	if byTable && w.applyRow(s, Sigreturn) {
		return true
	}
	if !s.sigcode || w.done {
		return false
	}
	sp, known := w.frame.Regs.SP()
	if !known {
		return w.failed(Sigreturn, "the stack pointer is not known")
	}
	order, at := amd64Context, target.Addr(sp)+amd64ContextAt
	if w.u.arch == arch.ARM64 {
		order, at = arm64Context, target.Addr(sp)+arm64ContextAt
	}
	c := &w.caller
	c.Start(arch.RegSet{})
	for i, reg := range order {
		addr := at + target.Addr(8*i)
		v, err := w.words.Word(addr, 8)
		if err != nil {
			return w.unreadable(Sigreturn, err)
		}
		switch reg {
		case w.u.arch.PC:
			c.SetPC(w.u.arch, v, addr, true)
			continue
		case w.u.arch.SP:
			c.SP, c.CFA = v, v
		}
		c.SetSaved(reg, v, addr)
	}
	return w.judge(Sigreturn)
}
