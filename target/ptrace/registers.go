package ptrace

import (
	"bytes"
	"maps"

	"dbg/arch"
	"dbg/target"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/procfs"
)

// Registers implements target.Target.
func (p *Process) Registers(id target.ThreadID) (arch.Registers, error) {
	if r, ok := p.cache.Get(id); ok {
		return r, nil
	}
	var r arch.Registers
	err := p.onThread(id, func(t *thread) (err error) {
		if r, err = t.regs.Decode(); err == nil {
			p.cache.Put(id, &r)
		}
		return err
	})
	return r, err
}

// SetRegister implements target.Target. Only general registers can be changed.
func (p *Process) SetRegister(id target.ThreadID, reg arch.Reg, v uint64) error {
	return p.onThread(id, func(t *thread) error {
		changed, err := t.regs.With(reg, v)
		if err != nil {
			return err
		}
		if t.away {
			return errAway
		}
		if err := t.regs.Write(&changed); err != nil {
			return err
		}
		p.cache.Forget(t.tid)
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
	procfs.NameThreads(p.pid, out)
	return out
}

// ThreadState implements target.StateReader. A thread that waits for a child of vfork has no
// floating-point state: the kernel shows it only for stopped threads.
func (p *Process) ThreadState(id target.ThreadID) (target.ThreadState, error) {
	var s target.ThreadState
	err := p.onThread(id, func(t *thread) error {
		u, err := t.regs.Read()
		if err != nil {
			return err
		}
		s.User = bytes.Clone(u[:])
		if t.signal != nil && t.info.Signo() == t.signal.Number {
			s.SigInfo = bytes.Clone(t.info[:])
		}
		if t.away {
			return nil
		}
		if s.FP, err = kernel.GetFPState(t.tid); err != nil {
			return err
		}
		s.XState, err = kernel.GetXState(t.tid)
		return err
	})
	return s, err
}
