package ptrace

import (
	"errors"

	"dbg/target"
	"dbg/target/ptrace/kernel"
)

// savedSignal is what a thread would get when it goes on.
type savedSignal struct {
	inject      int
	info        kernel.SigInfo
	fault, told bool
	later       []kernel.SigInfo
	signal      *target.SignalInfo
	skip        target.Addr
	skipping    bool
}

// SaveState implements target.Process.
func (p *Process) SaveState(id target.ThreadID) (*target.SavedState, error) {
	s := &target.SavedState{}
	err := p.onThread(id, func(t *thread) error {
		if t.away || t.waits {
			return errAway
		}
		regs, err := t.regs.Read()
		if err != nil {
			return err
		}
		if s.Extended, err = kernel.GetXState(t.tid); err != nil {
			return err
		}
		s.General = append([]byte(nil), regs[:]...)
		s.Signal = savedSignal{t.inject, t.info, t.fault, t.told, t.queue.Held(), t.signal, t.skip, t.skipping}
		return nil
	})
	return s, err
}

var errAway = errors.New("the thread waits for a child of vfork; its registers can't be changed now")

// RestoreState implements target.Process. The number of the system call in which the thread was
// interrupted (orig_rax) is part of the state, so that the kernel starts the call again.
func (p *Process) RestoreState(id target.ThreadID, s *target.SavedState) error {
	return p.onThread(id, func(t *thread) error {
		var regs kernel.Regs
		sig, ok := s.Signal.(savedSignal)
		if len(s.General) != len(regs) || !ok && s.Signal != nil {
			return errors.New("that is no state of this process's threads")
		}
		if t.away || t.waits {
			return errAway
		}
		copy(regs[:], s.General)
		if err := kernel.SetXState(t.tid, s.Extended); err != nil {
			return err
		}
		if err := t.regs.Write(&regs); err != nil {
			return err
		}
		t.inject, t.info, t.fault, t.told, t.signal = sig.inject, sig.info, sig.fault, sig.told, sig.signal
		t.queue.SetHeld(sig.later)
		t.skip, t.skipping = sig.skip, sig.skipping
		p.cache.Forget(t.tid)
		return nil
	})
}
