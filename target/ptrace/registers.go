package ptrace

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"dbg/arch"
	"dbg/target"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/procfs"
)

// Registers implements target.Target.
func (p *Process) Registers(id target.ThreadID) (arch.Registers, error) {
	p.cacheLock.Lock()
	r, ok := p.cache[id]
	p.cacheLock.Unlock()
	if ok {
		return r, nil
	}
	err := p.onThread(id, func(t *thread) error {
		u, err := t.registers()
		if err != nil {
			return err
		}
		r = target.DecodeUser(arch.AMD64, u[:])
		if t.sparse {
			r = sparseRegisters(&r)
		}
		p.cacheLock.Lock()
		p.cache[id] = r
		p.cacheLock.Unlock()
		return nil
	})
	return r, err
}

// sparseRegisters returns the registers that /proc/PID/syscall shows for a thread in a system call.
func sparseRegisters(all *arch.Registers) (r arch.Registers) {
	r.Arch = all.Arch
	for _, n := range []arch.Reg{arch.RIP, arch.RSP, arch.RDI, arch.RSI, arch.RDX, arch.R10, arch.R8, arch.R9} {
		if v, ok := all.Get(n); ok {
			r.Set(n, v)
		}
	}
	return r
}

// forgetRegisters removes a thread's registers from the cache. It is called before the thread
// moves.
func (p *Process) forgetRegisters(t *thread) {
	p.cacheLock.Lock()
	delete(p.cache, target.ThreadID(t.tid))
	p.cacheLock.Unlock()
}

// forgetCache clears the cache of registers. It is called before any thread moves.
func (p *Process) forgetCache() {
	p.cacheLock.Lock()
	clear(p.cache)
	p.cacheLock.Unlock()
}

// SetRegister implements target.Target. Only general registers can be changed.
func (p *Process) SetRegister(id target.ThreadID, reg arch.Reg, v uint64) error {
	return p.onThread(id, func(t *thread) error {
		off, ok := target.AMD64UserOffset(reg)
		if !ok {
			return fmt.Errorf("register %s can't be changed: %w", arch.AMD64.RegName(reg), errors.ErrUnsupported)
		}
		now, err := t.registers()
		if err != nil {
			return err
		}
		changed := *now
		changed.Set(off, v)
		if reg == arch.RIP {
			// If the thread was stopped in a system call, the kernel would otherwise move the PC
			// back by two, to start the call again.
			changed.Set(kernel.OrigRAX, ^uint64(0))
		}
		if t.away {
			return errors.New("the thread is waiting for a child of vfork; its registers can't be changed now")
		}
		if err := kernel.SetRegs(t.tid, &changed); err != nil {
			return err
		}
		// The next read gets the kernel's value: it does not accept all bits of the flags.
		t.haveRegs, t.changed = false, false
		p.cacheLock.Lock()
		delete(p.cache, id)
		p.cacheLock.Unlock()
		return nil
	})
}

// WideRegister implements target.Target.
func (p *Process) WideRegister(id target.ThreadID, reg arch.Reg) ([]byte, error) {
	var out []byte
	err := p.onThread(id, func(t *thread) error {
		x, err := kernel.GetXState(t.tid)
		if err != nil {
			return err
		}
		b, ok := target.AMD64Wide(x, reg)
		if !ok {
			return target.ErrNoRegister
		}
		out = b
		return nil
	})
	return out, err
}

// Threads implements target.Target.
func (p *Process) Threads() []target.Thread {
	var out []target.Thread
	_ = p.do(func() error {
		for tid := range maps.Keys(p.threads) {
			t := p.threads[tid]
			if t.zombie {
				continue
			}
			th := target.Thread{ID: target.ThreadID(tid)}
			if t.signal != nil {
				s := *t.signal
				th.Signal = &s
			}
			out = append(out, th)
		}
		return nil
	})
	sortThreads(out, p.pid)
	for i := range out {
		out[i].Name = procfs.ThreadName(p.pid, int(out[i].ID))
	}
	return out
}

// sortThreads puts the main thread first, and sorts the others by their ids.
func sortThreads(list []target.Thread, pid int) {
	slices.SortFunc(list, func(a, b target.Thread) int {
		switch main := target.ThreadID(pid); {
		case a.ID == b.ID:
			return 0
		case a.ID == main:
			return -1
		case b.ID == main:
			return 1
		}
		return cmp.Compare(a.ID, b.ID)
	})
}
