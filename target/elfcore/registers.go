package elfcore

import (
	"dbg/arch"
	"dbg/image/elfheader"
	"dbg/target"
)

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
	r := target.DecodeUser(c.arch, t.regs)
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
			s, ok = elfheader.Cut(t.fp, uint64(int(reg-first)*size), uint64(size))
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
