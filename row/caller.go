package row

import (
	"dbg/arch"
	"dbg/target"
)

// Places holds the place of each register of a frame: saved in memory, or still in the thread's own
// register.
type Places struct {
	InMemory arch.RegSet // Addr has the address
	Live     arch.RegSet
	Addr     [arch.MaxRegs]target.Addr
}

// Caller is the result of a strategy: the calling frame, not yet checked. It holds the differences
// from the callee. A register that is neither kept nor set becomes unknown.
type Caller struct {
	CFA uint64 // the callee's, 0 if unknown; the caller's SP unless SP has a rule
	PC  uint64 // the caller's
	SP  uint64 // the caller's, 0 if unknown
	// End is set if the return address is undefined: there is no caller.
	End bool

	keep arch.RegSet
	has  arch.RegSet // the registers in set
	n    int
	set  [arch.MaxRegs]change
}

// change is the new value of a register.
type change struct {
	reg   arch.Reg
	place placeKind
	value uint64
	addr  target.Addr
	from  arch.Reg
}

type placeKind uint8

const (
	computed placeKind = iota // it has no place, and is not assignable
	inMemory
	inRegister // it has the same place as the register from
)

// Start makes c empty. The registers in keep pass through unchanged.
func (c *Caller) Start(keep arch.RegSet) {
	c.CFA, c.PC, c.SP, c.End, c.keep, c.has, c.n = 0, 0, 0, false, keep, arch.RegSet{}, 0
}

// SetSaved sets a register to a value that was read at addr.
func (c *Caller) SetSaved(r arch.Reg, v uint64, addr target.Addr) {
	c.add(change{reg: r, place: inMemory, value: v, addr: addr})
}

// SetComputed sets a register to a value that has no place.
func (c *Caller) SetComputed(r arch.Reg, v uint64) { c.add(change{reg: r, value: v}) }

func (c *Caller) add(ch change) {
	c.keep.Remove(ch.reg)
	if c.has.Has(ch.reg) { // the last value counts
		for i := range c.n {
			if c.set[i].reg == ch.reg {
				c.set[i] = ch
			}
		}
		return
	}
	if c.n < len(c.set) {
		c.has.Add(ch.reg)
		c.set[c.n] = ch
		c.n++
	}
}

// Keep lets a register pass through unchanged.
func (c *Caller) Keep(r arch.Reg) { c.keep.Add(r) }

// Forget makes a register unknown in the caller.
func (c *Caller) Forget(r arch.Reg) { c.keep.Remove(r) }

// Has reports whether c sets r.
func (c *Caller) Has(r arch.Reg) bool { return c.has.Has(r) }

// Sets returns the registers that c sets.
func (c *Caller) Sets() arch.RegSet { return c.has }

// SavedAt returns the register that was read at addr, or NoReg. The return address counts as the
// PC.
func (c *Caller) SavedAt(addr target.Addr) arch.Reg {
	for i := range c.n {
		if c.set[i].place == inMemory && c.set[i].addr == addr {
			return c.set[i].reg
		}
	}
	return arch.NoReg
}

// SavedPC returns the address from which the return address was read. It returns false if that was
// not in memory.
func (c *Caller) SavedPC(a *arch.Arch) (target.Addr, bool) {
	for i := range c.n {
		if ch := &c.set[i]; ch.reg == a.PC {
			return ch.addr, ch.place == inMemory
		}
	}
	return 0, false
}

// Get returns the value to which c sets a register, and false if c does not set it.
func (c *Caller) Get(r arch.Reg) (uint64, bool) {
	for i := range c.n {
		if c.set[i].reg == r {
			return c.set[i].value, true
		}
	}
	return 0, false
}

// SetPC sets the caller's program counter. saved is the address of the return address if inMem is
// set: to assign the caller's PC, write there.
func (c *Caller) SetPC(a *arch.Arch, v uint64, saved target.Addr, inMem bool) {
	c.PC = v
	if inMem {
		c.SetSaved(a.PC, v, saved)
	} else {
		c.SetComputed(a.PC, v)
	}
}

// StripPC removes the signature from the program counter: see Strip.
func (c *Caller) StripPC(a *arch.Arch, bits uint8) {
	pc := Strip(c.PC, bits)
	if pc == c.PC {
		return
	}
	c.PC = pc
	for i := range c.n {
		if c.set[i].reg == a.PC {
			c.set[i].value = pc
		}
	}
}

// SetSP sets the caller's stack pointer to a computed value.
func (c *Caller) SetSP(a *arch.Arch, v uint64) {
	c.SP = wrap(a, v)
	c.SetComputed(a.SP, c.SP)
}

// Commit turns the registers of a frame into those of its caller.
func (c *Caller) Commit(regs *arch.Registers, p *Places) {
	// A register(R) rule refers to a place of the callee: read all of them before any is
	// overwritten.
	var mem, live arch.RegSet
	for i := range c.n {
		ch := &c.set[i]
		switch {
		case ch.place == inMemory:
			mem.Add(ch.reg)
		case ch.place == inRegister && p.InMemory.Has(ch.from):
			mem.Add(ch.reg)
			ch.addr = p.Addr[ch.from]
		case ch.place == inRegister && p.Live.Has(ch.from) && ch.reg == ch.from:
			live.Add(ch.reg)
		}
		// A register whose value is in another live register has no place: Places cannot express that.
	}
	regs.Keep(c.keep)
	for i := range p.InMemory {
		p.InMemory[i] = p.InMemory[i]&c.keep[i] | mem[i]
		p.Live[i] = p.Live[i]&c.keep[i] | live[i]
	}
	for i := range c.n {
		ch := &c.set[i]
		regs.Set(ch.reg, ch.value)
		if mem.Has(ch.reg) {
			p.Addr[ch.reg] = ch.addr
		}
	}
}
