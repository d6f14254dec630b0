package registers

import (
	"errors"
	"fmt"

	"dbg/arch"
	"dbg/target"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/procfs"
)

// Set is the general registers of one stopped thread. It is made by Of.
type Set struct {
	tid     int
	have    bool
	sparse  bool // regs holds only the registers in /proc/PID/syscall
	changed bool // regs was changed; Flush writes it
	regs    kernel.Regs
}

// Of returns the registers of a thread, which are not known yet.
func Of(tid int) Set { return Set{tid: tid} }

// Read returns the registers. They belong to the Set, and are valid until the thread runs. The
// error is kernel.ErrCompat for a 32-bit program, or unix.ESRCH if the thread was killed.
func (s *Set) Read() (*kernel.Regs, error) {
	if !s.have {
		if err := kernel.GetRegs(s.tid, &s.regs); err != nil {
			return nil, err
		}
		s.have = true
	}
	return &s.regs, nil
}

// Changed records that the caller has changed what Read returned.
func (s *Set) Changed() { s.changed = true }

// PC returns the PC, or 0 if the thread was killed.
func (s *Set) PC() target.Addr {
	r, err := s.Read()
	if err != nil {
		return 0
	}
	return target.Addr(r.Get(kernel.RIP))
}

// SetPC changes the PC.
func (s *Set) SetPC(pc target.Addr) error {
	r, err := s.Read()
	if err != nil {
		return err
	}
	r.Set(kernel.RIP, uint64(pc))
	s.changed = true
	return nil
}

// Restarting reports whether the thread was interrupted in a system call that the kernel restarts,
// see kernel.Regs.
func (s *Set) Restarting() bool {
	r, err := s.Read()
	return err == nil && r.Restarting()
}

// TrapFlag reports whether the program itself has set its trap flag. The kernel hides the flag that
// a step sets.
func (s *Set) TrapFlag() bool {
	r, err := s.Read()
	return err == nil && r.Get(kernel.Flags)&kernel.TrapFlag != 0
}

// Flush writes the registers to the kernel if they were changed.
func (s *Set) Flush() {
	if s.changed {
		s.changed = false
		_ = kernel.SetRegs(s.tid, &s.regs) // ESRCH: it was killed
	}
}

// Forget is called when the thread has run: the registers are read again. A change that was not
// flushed is lost.
func (s *Set) Forget() { s.have, s.changed, s.sparse = false, false, false }

// Resumed is called when the thread is resumed, after Flush.
func (s *Set) Resumed() { s.have = false }

// Write writes all registers to the kernel. The next Read gets the kernel's value: it does not
// accept all bits of the flags.
func (s *Set) Write(r *kernel.Regs) error {
	if err := kernel.SetRegs(s.tid, r); err != nil {
		return err
	}
	s.have, s.changed = false, false
	return nil
}

// With returns the registers with one general register changed, for Write. If the thread was
// stopped in a system call, the kernel would move a new PC back by two, to start the call again.
// So that is cancelled.
func (s *Set) With(reg arch.Reg, v uint64) (changed kernel.Regs, err error) {
	off, ok := target.AMD64UserOffset(reg)
	if !ok {
		return changed, fmt.Errorf("register %s can't be changed: %w", arch.AMD64.RegName(reg), errors.ErrUnsupported)
	}
	now, err := s.Read()
	if err != nil {
		return changed, err
	}
	changed = *now
	changed.Set(off, v)
	if reg == arch.RIP {
		changed.Set(kernel.OrigRAX, ^uint64(0))
	}
	return changed, nil
}

// SetSparse sets the registers of a thread that can't be stopped in its system call to those that
// /proc shows.
func (s *Set) SetSparse(c *procfs.SystemCall) {
	s.regs = kernel.Regs{}
	for i, off := range kernel.SyscallArgs {
		s.regs.Set(off, c.Args[i])
	}
	s.regs.Set(kernel.OrigRAX, uint64(c.Number))
	s.regs.Set(kernel.RSP, c.SP)
	s.regs.Set(kernel.RIP, c.PC)
	s.have, s.sparse = true, true
}

// Decode returns the registers, without those that are not known after SetSparse.
func (s *Set) Decode() (arch.Registers, error) {
	u, err := s.Read()
	if err != nil {
		return arch.Registers{}, err
	}
	all := target.DecodeUser(arch.AMD64, u[:])
	if !s.sparse {
		return all, nil
	}
	r := arch.Registers{Arch: all.Arch}
	for _, n := range []arch.Reg{arch.RIP, arch.RSP, arch.RDI, arch.RSI, arch.RDX, arch.R10, arch.R8, arch.R9} {
		if v, ok := all.Get(n); ok {
			r.Set(n, v)
		}
	}
	return r, nil
}
