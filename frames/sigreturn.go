package frames

import (
	"bytes"

	"dbg/arch"
	"dbg/target"
)

// trampoline is code to which a handler returns, and where the kernel has saved the registers when
// it runs. With the C library's or the vDSO's table (augmentation S) it is not needed;
// musl, Go and old kernels have no table.
type trampoline struct {
	code []byte
	// starts are the offsets in code at which an instruction starts: the PC may be at any of them.
	// sp says how far SP has moved by then.
	starts []int
	popped []int64

	regs    []arch.Reg // in the order in which they are saved; NoReg is skipped
	at      int64      // of the first, from SP at the first instruction, or from *(SP+through)
	through int64      // 0: not through a pointer
}

// trampolines lists them for each architecture, from the kernel's sigframe.h and asm/sigcontext.h:
//
// amd64: SP points to the ucontext, as the return address above it is gone; uc_mcontext is at 40, its
// gregs in the order of <sys/ucontext.h>.
//
// 386: old frames have a sigcontext behind the signal's number, which the trampoline pops; new ones have
// number, pointer to siginfo, pointer to ucontext, whose mcontext is at 20.
//
// arm64 and riscv64: siginfo of 128 bytes, then the ucontext, whose mcontext is at 176 (the sigmask has
// 128 bytes and the mcontext is aligned to 16); arm64 has fault_address before the registers.
//
// arm: the ucontext's mcontext is at 20, R0 after three words; new frames have a siginfo of 128 bytes before.
var trampolines = map[*arch.Arch][]trampoline{
	arch.AMD64: {
		{code: []byte{0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05}, starts: []int{0, 7}, regs: amd64Context, at: 40}, // mov $15,%rax; syscall
		{code: []byte{0xb8, 15, 0, 0, 0, 0x0f, 0x05}, starts: []int{0, 5}, regs: amd64Context, at: 40},             // mov $15,%eax; syscall
	},
	arch.I386: {
		{code: []byte{0x58, 0xb8, 119, 0, 0, 0, 0xcd, 0x80}, starts: []int{0, 1, 6}, popped: []int64{0, 4, 4}, regs: i386Context, at: 4}, // pop %eax; mov $119,%eax; int $0x80
		{code: []byte{0xb8, 173, 0, 0, 0, 0xcd, 0x80}, starts: []int{0, 5}, regs: i386Context, at: 20, through: 8},                       // mov $173,%eax; int $0x80
	},
	arch.ARM64: {
		{code: []byte{0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4}, starts: []int{0, 4}, regs: arm64Context, at: 128 + 176 + 8}, // mov x8,#139; svc #0
	},
	arch.ARM: {
		{code: []byte{0x77, 0x70, 0xa0, 0xe3, 0x77, 0x00, 0x90, 0xef}, starts: []int{0, 4}, regs: armContext, at: 20 + 12},       // the kernel's: mov r7,#119; svc #0x900077
		{code: []byte{0xad, 0x70, 0xa0, 0xe3, 0xad, 0x00, 0x90, 0xef}, starts: []int{0, 4}, regs: armContext, at: 128 + 20 + 12}, // mov r7,#173; svc #0x9000ad
		{code: []byte{0x77, 0x27, 0x00, 0xdf}, starts: []int{0, 2}, regs: armContext, at: 20 + 12},                               // the same of Thumb, movs
		{code: []byte{0xad, 0x27, 0x00, 0xdf}, starts: []int{0, 2}, regs: armContext, at: 128 + 20 + 12},
		{code: []byte{0x77, 0x70, 0xa0, 0xe3, 0x00, 0x00, 0x00, 0xef}, starts: []int{0, 4}, regs: armContext, at: 20 + 12},       // C libraries': mov r7,#119; svc #0
		{code: []byte{0xad, 0x70, 0xa0, 0xe3, 0x00, 0x00, 0x00, 0xef}, starts: []int{0, 4}, regs: armContext, at: 128 + 20 + 12}, // mov r7,#173; svc #0
		{code: []byte{0x4f, 0xf0, 0x77, 0x07, 0x00, 0xdf}, starts: []int{0, 4}, regs: armContext, at: 20 + 12},                   // the same of Thumb, mov.w
		{code: []byte{0x4f, 0xf0, 0xad, 0x07, 0x00, 0xdf}, starts: []int{0, 4}, regs: armContext, at: 128 + 20 + 12},
	},
	arch.RISCV64: {
		{code: []byte{0x93, 0x08, 0xb0, 0x08, 0x73, 0x00, 0x00, 0x00}, starts: []int{0, 4}, regs: riscvContext, at: 128 + 176}, // li a7,139; ecall
	},
}

// bytesFirst are the architectures whose vDSO has had tables that are wrong at the trampoline, so that the instructions
// decide. On arm64 the entry of older kernels leads along the kernel's frame record to what was in the interrupted
// code's link register. On riscv64 it has augmentation S and no rules.
var bytesFirst = map[*arch.Arch]bool{arch.ARM64: true, arch.RISCV64: true}

var (
	amd64Context = []arch.Reg{arch.R8, arch.R9, arch.R10, arch.R11, arch.R12, arch.R13, arch.R14, arch.R15,
		arch.RDI, arch.RSI, arch.RBP, arch.RBX, arch.RDX, arch.RAX, arch.RCX, arch.RSP, arch.RIP, arch.RFLAGS}
	// gs fs es ds edi esi ebp esp ebx edx ecx eax trapno err eip cs eflags
	i386Context = []arch.Reg{arch.NoReg, arch.NoReg, arch.NoReg, arch.NoReg, 7, 6, 5, 4, 3, 2, 1, 0, arch.NoReg, arch.NoReg, 8, arch.NoReg, 9}

	arm64Context = append(registersFrom(0, 31), arch.ARM64.SP, arch.ARM64.PC, arch.ARM64.Flags)
	armContext   = registersFrom(0, 17)
	riscvContext = append([]arch.Reg{arch.RISCV64.PC}, registersFrom(1, 31)...)
)

// registersFrom lists n registers.
func registersFrom(first arch.Reg, n int) (list []arch.Reg) {
	for i := range n {
		list = append(list, first+arch.Reg(i))
	}
	return list
}

// trampolineAt recognises a signal trampoline by its instructions: PC at the first or, when the thread is
// stopped there, at a later one. popped is how far SP has moved by then.
func (u *Unwinder) trampolineAt(s *site) (t *trampoline, popped int64) {
	list := trampolines[u.arch]
	for i := range list {
		t := &list[i]
		for j, n := range t.starts {
			if j > 0 && !s.precise {
				break
			}
			if bytes.HasPrefix(s.at(), t.code[n:]) && bytes.HasSuffix(s.before(), t.code[:n]) {
				if t.popped != nil {
					popped = t.popped[j]
				}
				return t, popped
			}
		}
	}
	return nil, 0
}

// sigreturn takes the interrupted frame's registers from what the kernel saved.
func (w *Walk) sigreturn(s *site) bool {
	if s.sigcode && bytesFirst[w.u.arch] {
		w.frame.Signal = true
		return w.byTrampoline(s)
	}
	byTable := false
	if w.u.Use.Has(CFI) || w.u.Use.Has(Compact) {
		p, err := w.planAt(s)
		byTable = err == nil && p.Row().Signal
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
	return w.byTrampoline(s)
}

// byTrampoline reads the registers from where the kernel saved them.
func (w *Walk) byTrampoline(s *site) bool {
	a, c := w.u.arch, &w.caller
	t, popped := w.u.trampolineAt(s)
	sp, known := w.frame.Regs.SP()
	if t != nil && !known && a == arch.ARM64 {
		sp, known = w.sigframeByRecord(t)
	}
	if t == nil || !known {
		return w.failed(Sigreturn, "the stack pointer is not known")
	}
	at := sp - uint64(popped) + uint64(t.at)
	if t.through != 0 {
		uc, err := w.words.Word(target.Addr(sp-uint64(popped)+uint64(t.through)), a.PtrSize)
		if err != nil {
			return w.unreadable(Sigreturn, err)
		}
		at = uc + uint64(t.at)
	}
	c.Start(arch.RegSet{})
	for i, reg := range t.regs {
		if reg == arch.NoReg {
			continue
		}
		addr := target.Addr(at) + target.Addr(a.PtrSize*i)
		v, err := w.words.Word(addr, a.PtrSize)
		if err != nil {
			return w.unreadable(Sigreturn, err)
		}
		switch reg {
		case a.PC:
			c.SetPC(a, v, addr, true)
			continue
		case a.SP:
			c.SP, c.CFA = v, v
		}
		c.SetSaved(reg, v, addr)
	}
	return w.judge(Sigreturn)
}
