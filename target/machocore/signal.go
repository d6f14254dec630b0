package machocore

import (
	"dbg/arch"
	"dbg/target"
)

// Linux's signal numbers and codes, which package target uses.
const (
	sigILL  = 4
	sigTRAP = 5
	sigBUS  = 7
	sigFPE  = 8
	sigSEGV = 11

	illOpcode     = 1
	trapBreak     = 1
	trapStep      = 2
	busAlignment  = 1
	busAddress    = 2
	fpeIntDivide  = 1
	fpeInvalid    = 7
	segvNotMapped = 1
	codeKernel    = 0x80 // SI_KERNEL: nothing else is known
)

// findSignals derives the threads' signals from the processor's state after the last exception
// (x86_EXCEPTION_STATE64, ARM_EXCEPTION_STATE64). The kernel turns an access to unmapped memory
// into a SIGSEGV, and a forbidden access into a SIGBUS (xnu, bsd/uxkern/ux_exception.c).
func (c *Core) findSignals() {
	for i := range c.threads {
		t := &c.threads[i]
		switch c.arch {
		case arch.AMD64, arch.I386:
			t.signal = c.x86Signal(t)
		case arch.ARM64:
			t.signal = c.armSignal(t)
		}
	}
}

// access returns the signal for an invalid access to an address.
func (c *Core) access(addr uint64) *target.SignalInfo {
	s := &target.SignalInfo{Number: sigSEGV, Code: segvNotMapped, Addr: target.Addr(addr), HasAddr: true}
	if c.base.SegmentAt(addr) != nil {
		s.Number, s.Code = sigBUS, busAddress
	}
	return s
}

// x86Signal reads an x86_exception_state: the trap number and the CPU in 16 bits each, the error
// code in 32 bits, and the address of a page fault.
func (c *Core) x86Signal(t *thread) *target.SignalInfo {
	b := t.exception
	if len(b) < 8+c.arch.PtrSize {
		return nil
	}
	addr := uint64(le.Uint32(b[8:]))
	if c.arch.PtrSize == 8 {
		addr = le.Uint64(b[8:])
	}
	const fromUser = 4
	switch trap, code := le.Uint16(b), le.Uint32(b[4:]); trap {
	case 0:
		// A state that was never written is also zero: the instruction decides.
		if c.atDivision(t) {
			return &target.SignalInfo{Number: sigFPE, Code: fpeIntDivide}
		}
	case 1:
		return &target.SignalInfo{Number: sigTRAP, Code: trapStep}
	case 3:
		return &target.SignalInfo{Number: sigTRAP, Code: trapBreak}
	case 6:
		return &target.SignalInfo{Number: sigILL, Code: illOpcode}
	case 12:
		return &target.SignalInfo{Number: sigBUS, Code: codeKernel}
	case 13: // general protection: no address
		return &target.SignalInfo{Number: sigSEGV, Code: codeKernel}
	case 14:
		if code&fromUser != 0 {
			return c.access(addr)
		}
	case 16, 19:
		return &target.SignalInfo{Number: sigFPE, Code: fpeInvalid}
	case 17:
		return &target.SignalInfo{Number: sigBUS, Code: busAlignment}
	}
	return nil
}

// atDivision reports whether the current instruction of a thread is DIV or IDIV.
func (c *Core) atDivision(t *thread) bool {
	r := arch.Registers{Arch: c.arch}
	c.decode(t, &r)
	pc, known := r.PC()
	if !known {
		return false
	}
	b := c.base.Some(pc, 8)
	for len(b) > 2 && (b[0] == 0x66 || b[0] == 0x67 || c.arch == arch.AMD64 && b[0]&0xf0 == 0x40) {
		b = b[1:]
	}
	return len(b) >= 2 && b[0]&0xfe == 0xf6 && b[1]&0x30 == 0x30 // group 3, /6 and /7
}

// armSignal reads an arm_exception_state64: FAR, ESR, and the exception number. The exception
// classes and fault codes are those of ESR_EL1 (Arm ARM, D24.2.40).
func (c *Core) armSignal(t *thread) *target.SignalInfo {
	b := t.exception
	if len(b) < 12 {
		return nil
	}
	far, esr := le.Uint64(b), le.Uint32(b[8:])
	switch class := esr >> 26; class {
	case 0:
		if esr != 0 { // 0: never written
			return &target.SignalInfo{Number: sigILL, Code: illOpcode}
		}
	case 0x20, 0x24: // instruction abort, data abort, from EL0
		if esr&(1<<10) != 0 { // FnV: no address
			return &target.SignalInfo{Number: sigSEGV, Code: codeKernel}
		}
		if esr&0x3f == 0x21 {
			return &target.SignalInfo{Number: sigBUS, Code: busAlignment, Addr: target.Addr(far), HasAddr: true}
		}
		s := c.access(c.strip(far))
		if s.Addr = target.Addr(far); esr&0x3c == 0x0c { // permission fault: the page is mapped
			s.Number, s.Code = sigBUS, busAddress
		}
		return s
	case 0x22, 0x26: // PC alignment, SP alignment
		return &target.SignalInfo{Number: sigBUS, Code: busAlignment}
	case 0x2c:
		return &target.SignalInfo{Number: sigFPE, Code: fpeInvalid}
	case 0x30, 0x34, 0x3c: // breakpoint, watchpoint, BRK
		return &target.SignalInfo{Number: sigTRAP, Code: trapBreak}
	case 0x32:
		return &target.SignalInfo{Number: sigTRAP, Code: trapStep}
	}
	return nil
}
