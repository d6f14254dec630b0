package machine

import (
	"bytes"

	"dbg/arch"
	"dbg/code"
	"dbg/target"
)

// amd64 and i386 are x86. Instructions: Intel SDM, volume 2.
//
// Frame records: the ABIs put the record at the top of the frame.
//
// Signal trampolines (the kernel's sigframe.h and asm/sigcontext.h): on amd64 SP points to the
// ucontext, because the handler's return has popped the return address. uc_mcontext is at 40, its
// registers in the order of <sys/ucontext.h>. On i386, old frames have a sigcontext after the
// signal number, which the trampoline pops. New ones have the number, a pointer to the siginfo and
// a pointer to the ucontext, whose mcontext is at 20.
var (
	amd64 = Machine{
		FollowsCall: func(before []byte, pc target.Addr, space Permissions) Verdict {
			return followsX86Call(before, pc, space, ^target.Addr(0))
		},
		callTarget:   func(before []byte, pc target.Addr) target.Addr { return x86CallTarget(before, pc, ^target.Addr(0)) },
		CallSlot:     amd64CallSlot,
		StubSlot:     amd64StubSlot,
		PushedInStub: pushedInX86Stub,
		EntryOrExit:  func(before, at []byte) (bool, bool) { return x86EntryOrExit(before, at, true) },
		Records:      []FrameRecord{{Reg: arch.RBP, Saved: 0, RA: 8, Top: 16, IsCFA: true}},
		trampolines: []Trampoline{
			{code: []byte{0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05}, starts: []int{0, 7}, Regs: amd64Context, At: 40}, // mov $15,%rax; syscall
			{code: []byte{0xb8, 15, 0, 0, 0, 0x0f, 0x05}, starts: []int{0, 5}, Regs: amd64Context, At: 40},             // mov $15,%eax; syscall
		},
		ShadowPointer: arch.NoReg,
	}

	i386 = Machine{
		FollowsCall: func(before []byte, pc target.Addr, space Permissions) Verdict {
			return followsX86Call(before, pc, space, 0xffffffff)
		},
		callTarget:   func(before []byte, pc target.Addr) target.Addr { return x86CallTarget(before, pc, 0xffffffff) },
		StubSlot:     i386StubSlot,
		PushedInStub: pushedInX86Stub,
		EntryOrExit:  func(before, at []byte) (bool, bool) { return x86EntryOrExit(before, at, false) },
		Records:      []FrameRecord{{Reg: 5, Saved: 0, RA: 4, Top: 8, IsCFA: true}},
		trampolines: []Trampoline{
			{code: []byte{0x58, 0xb8, 119, 0, 0, 0, 0xcd, 0x80}, starts: []int{0, 1, 6}, popped: []int64{0, 4, 4}, Regs: i386Context, At: 4}, // pop %eax; mov $119,%eax; int $0x80
			{code: []byte{0xb8, 173, 0, 0, 0, 0xcd, 0x80}, starts: []int{0, 5}, Regs: i386Context, At: 20, Through: 8},                       // mov $173,%eax; int $0x80
		},
		ShadowPointer: arch.NoReg,
	}

	amd64Context = []arch.Reg{arch.R8, arch.R9, arch.R10, arch.R11, arch.R12, arch.R13, arch.R14, arch.R15,
		arch.RDI, arch.RSI, arch.RBP, arch.RBX, arch.RDX, arch.RAX, arch.RCX, arch.RSP, arch.RIP, arch.RFLAGS}
	// gs fs es ds edi esi ebp esp ebx edx ecx eax trapno err eip cs eflags
	i386Context = []arch.Reg{arch.NoReg, arch.NoReg, arch.NoReg, arch.NoReg, 7, 6, 5, 4, 3, 2, 1, 0, arch.NoReg, arch.NoReg, 8, arch.NoReg, 9}
)

// followsX86Call looks for E8 rel32 with a target that is code, and for FF /2 with each of its
// lengths: CALL. mask has the bits of an address.
func followsX86Call(b []byte, pc target.Addr, space Permissions, mask target.Addr) Verdict {
	n := len(b)
	if n >= 5 && b[n-5] == 0xe8 && space.Executable((pc+relative(b, n-4))&mask) {
		return Yes
	}
	for l := 2; l <= 7 && l <= n; l++ {
		if rest := b[n-l+1:]; b[n-l] == 0xff && rest[0]>>3&7 == 2 && code.ModRMLength(rest) == l-1 {
			return Yes
		}
	}
	if n < 7 {
		return Unknown
	}
	return No
}

// x86CallTarget reads CALL rel32.
func x86CallTarget(b []byte, pc, mask target.Addr) target.Addr {
	if n := len(b); n >= 5 && b[n-5] == 0xe8 {
		return (pc + relative(b, n-4)) & mask
	}
	return 0
}

// amd64CallSlot reads call *slot(%rip).
func amd64CallSlot(b []byte, pc target.Addr) target.Addr {
	if n := len(b); n >= 6 && b[n-6] == 0xff && b[n-5] == 0x15 {
		return pc + relative(b, n-4)
	}
	return 0
}

// amd64StubSlot reads [endbr64] [bnd] jmp *slot(%rip).
func amd64StubSlot(b []byte, addr target.Addr) target.Addr {
	at := 0
	if has(b, 0xf3, 0x0f, 0x1e, 0xfa) {
		at = 4
	}
	if has(b[at:], 0xf2) {
		at++
	}
	if !has(b[at:], 0xff, 0x25) || len(b) < at+6 {
		return 0
	}
	return addr + target.Addr(at+6) + relative(b, at+2)
}

// i386StubSlot reads [endbr32] jmp *slot. The slot of the other kind of stub is relative to %ebx.
func i386StubSlot(b []byte, _ target.Addr) target.Addr {
	if has(b, 0xf3, 0x0f, 0x1e, 0xfb) {
		b = b[4:]
	}
	if !has(b, 0xff, 0x25) {
		return 0
	}
	return target.Addr(word32(b, 2))
}

// x86Stubs are the instructions of procedure linkage tables, psABI 5.2 and binutils'
// elf_x86_64_lazy_plt, _lazy_ibt_plt and _non_lazy_plt. A stub is entered with the return address
// on top of the stack. The lazy path pushes the relocation's index, then (in PLT0) the link map.
// words is how far the return address is above SP before the instruction is executed.
var x86Stubs = []struct {
	code  []byte
	words int
}{
	{[]byte{0xf3, 0x0f, 0x1e, 0xfa}, 0}, // endbr64
	{[]byte{0xff, 0x25}, 0},             // jmp *slot(%rip)
	{[]byte{0xf2, 0xff, 0x25}, 0},       // bnd jmp
	{[]byte{0x68}, 0},                   // push $index
	{[]byte{0xe9}, 1},                   // jmp PLT0
	{[]byte{0xf2, 0xe9}, 1},             // bnd jmp PLT0
	{[]byte{0xff, 0x35}, 1},             // PLT0: push link map
	// i386, elf_i386_lazy_plt and similar.
	{[]byte{0xf3, 0x0f, 0x1e, 0xfb}, 0}, // endbr32
	{[]byte{0xff, 0xa3}, 0},             // jmp *slot(%ebx)
	{[]byte{0xff, 0xb3}, 1},             // PLT0: push link map(%ebx)
}

func pushedInX86Stub(before, at []byte) (int, bool) {
	for _, s := range x86Stubs {
		if !bytes.HasPrefix(at, s.code) {
			continue
		}
		n := len(before)
		if n >= 6 && s.code[0] == 0xff && s.words == 0 && before[n-6] == 0xff && (before[n-5] == 0x35 || before[n-5] == 0xb3) {
			return 2, true // PLT0's second instruction
		}
		return s.words, true
	}
	return 0, false
}

func x86EntryOrExit(before, at []byte, long bool) (pushedFP, ok bool) {
	switch {
	case has(at, 0xf3, 0x0f, 0x1e, 0xfa), has(at, 0xf3, 0x0f, 0x1e, 0xfb), // endbr64, endbr32
		has(at, 0x55) && startsFunction(before),           // push %rbp
		has(at, 0xc3), has(at, 0xc2), has(at, 0xf3, 0xc3): // ret
		return false, true
	case bytes.HasSuffix(before, []byte{0x55}) && movSPtoFP(at, long), // after push %rbp
		has(at, 0x5d, 0xc3): // pop %rbp; ret
		return true, true
	}
	return false, false
}

// startsFunction reports whether the code before an address is the end of another function,
// padding, or endbr64.
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

// movSPtoFP recognizes both encodings of mov %rsp,%rbp.
func movSPtoFP(b []byte, long bool) bool {
	if long {
		if !has(b, 0x48) {
			return false
		}
		b = b[1:]
	}
	return has(b, 0x89, 0xe5) || has(b, 0x8b, 0xec)
}
