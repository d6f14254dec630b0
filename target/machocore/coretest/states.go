package coretest

import (
	"dbg/arch"
)

// General returns the general thread state of an architecture. Unknown registers are 0.
func General(r *arch.Registers) State {
	var b []byte
	word := func(regs ...arch.Reg) {
		for _, reg := range regs {
			v, _ := r.Get(reg)
			b = le.AppendUint64(b, v)
		}
	}
	switch r.Arch {
	case arch.AMD64:
		word(arch.RAX, arch.RBX, arch.RCX, arch.RDX, arch.RDI, arch.RSI, arch.RBP, arch.RSP)
		word(arch.R8, arch.R9, arch.R10, arch.R11, arch.R12, arch.R13, arch.R14, arch.R15)
		word(arch.RIP, arch.RFLAGS, arch.CS, arch.FS, arch.GS)
		return State{4, b}
	case arch.ARM64:
		for i := range arch.Reg(33) { // x0 to x28, fp, lr, sp, pc
			word(i)
		}
		v, _ := r.Get(arch.ARM64.Flags)
		return State{6, le.AppendUint32(le.AppendUint32(b, uint32(v)), 0)}
	}
	for _, reg := range []string{"eax", "ebx", "ecx", "edx", "edi", "esi", "ebp", "esp", "ss", "eflags", "eip", "cs", "ds", "es", "fs", "gs"} {
		n, _ := r.Arch.RegByName(reg)
		v, _ := r.Get(n)
		b = le.AppendUint32(b, uint32(v))
	}
	return State{1, b}
}

// InUnion wraps a state in x86_THREAD_STATE (7) or a similar union: its flavor and count, then
// the state.
func InUnion(flavor uint32, s State) State {
	b := le.AppendUint32(le.AppendUint32(nil, s.Flavor), uint32(len(s.Data)/4))
	return State{flavor, append(b, s.Data...)}
}

// X86Exception returns an x86_EXCEPTION_STATE64.
func X86Exception(trap uint16, code uint32, addr uint64) State {
	b := le.AppendUint16(le.AppendUint16(nil, trap), 1)
	return State{6, le.AppendUint64(le.AppendUint32(b, code), addr)}
}

// ARMException returns an ARM_EXCEPTION_STATE64.
func ARMException(far uint64, esr uint32) State {
	return State{7, le.AppendUint32(le.AppendUint32(le.AppendUint64(nil, far), esr), 0)}
}

// X86Float returns an x86_FLOAT_STATE64 with vector registers.
func X86Float(xmm [16][16]byte) State {
	b := make([]byte, 524)
	for i := range xmm {
		copy(b[8+160+16*i:], xmm[i][:])
	}
	return State{5, b}
}

// NEON returns an ARM_NEON_STATE64 with vector registers.
func NEON(v [32][16]byte) State {
	b := make([]byte, 0, 528)
	for i := range v {
		b = append(b, v[i][:]...)
	}
	return State{17, append(b, make([]byte, 16)...)}
}
