package elfcore

import (
	"dbg/arch"
	"dbg/target"
)

// none stands for a word in the register set that is not a register.
const none = arch.NoReg

// user lists, for each architecture, the kernel's user register set in order, <asm/ptrace.h> and
// <asm/elf.h> of each. amd64's is in package target.
var user = map[string][]arch.Reg{
	"386": {3, 1, 2, 6, 7, 5, 0, 43, 40, 44, 45, none, 8, 41, 9, 4, 42},
	"arm": {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, none},
	"arm64": {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
		31, 32, 40},
	"riscv64": {64, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
}

// userSize is the size of each register set, in bytes.
var userSize = map[string]int{
	"amd64": target.AMD64UserRegsSize, "386": 17 * 4, "arm": 18 * 4, "arm64": 34 * 8, "riscv64": 32 * 8,
}

// thread returns a thread by id, or nil.
func (c *Core) thread(id target.ThreadID) *thread {
	for i := range c.threads {
		if c.threads[i].id == id {
			return &c.threads[i]
		}
	}
	return nil
}

// Registers implements target.Target.
func (c *Core) Registers(id target.ThreadID) (arch.Registers, error) {
	c.base.RLock()
	defer c.base.RUnlock()
	t := c.thread(id)
	if t == nil || c.base.Closed() {
		return arch.Registers{Arch: c.arch}, target.ErrNoThread
	}
	if c.arch == arch.AMD64 {
		return target.DecodeAMD64User(t.regs), nil
	}
	r := arch.Registers{Arch: c.arch}
	for i, reg := range user[c.arch.Name] {
		if reg != none && (i+1)*c.arch.PtrSize <= len(t.regs) {
			r.Set(reg, c.word(t.regs[i*c.arch.PtrSize:]))
		}
	}
	if c.arch == arch.RISCV64 {
		r.Set(0, 0) // x0 is zero by definition, and not stored
	}
	return r, nil
}

// WideRegister implements target.Target.
func (c *Core) WideRegister(id target.ThreadID, reg arch.Reg) ([]byte, error) {
	c.base.RLock()
	defer c.base.RUnlock()
	t := c.thread(id)
	if t == nil || c.base.Closed() {
		return nil, target.ErrNoThread
	}
	var b []byte
	ok := false
	vector := func(first, n arch.Reg, size int) {
		if reg >= first && reg < first+n {
			var s []byte
			s, ok = cut(t.fp, uint64(int(reg-first)*size), uint64(size))
			b = append(b, s...)
		}
	}
	switch c.arch {
	case arch.AMD64:
		if b, ok = target.AMD64Wide(t.xstate, reg); !ok {
			b, ok = target.AMD64Wide(t.fp, reg)
		}
	case arch.I386:
		// The FXSAVE layout is the same; DWARF's numbers are not.
		if reg, ok = target.I386Wide(reg); !ok {
			return nil, target.ErrNoRegister
		}
		if b, ok = target.AMD64Wide(t.xstate, reg); !ok && len(t.fp) >= 512 {
			b, ok = target.AMD64Wide(t.fp, reg)
		}
	case arch.ARM64:
		vector(64, 32, 16)
	case arch.ARM:
		vector(64, 32, 8)
	case arch.RISCV64:
		vector(32, 32, 8)
	}
	if !ok {
		return nil, target.ErrNoRegister
	}
	return b, nil
}
