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
func (p *Process) SaveState(id target.ThreadID) (s *target.SavedState, err error) {
	err = p.onThread(id, func(t *thread) error {
		s, err = t.save()
		return err
	})
	return s, err
}

func (t *thread) save() (*target.SavedState, error) {
	if t.away || t.waits {
		return nil, errAway
	}
	regs, err := t.regs.Read()
	if err != nil {
		return nil, err
	}
	extended, err := kernel.GetXState(t.tid)
	if err != nil {
		return nil, err
	}
	return &target.SavedState{
		General: append([]byte(nil), regs[:]...), Extended: extended,
		Signal: savedSignal{t.inject, t.info, t.fault, t.told, t.queue.Held(), t.signal, t.skip, t.skipping},
	}, nil
}

var errAway = errors.New("the thread waits for a child of vfork; its registers can't be changed now")

// RestoreState implements target.Process. The number of the system call in which the thread was
// interrupted (orig_rax) is part of the state, so that the kernel starts the call again.
func (p *Process) RestoreState(id target.ThreadID, s *target.SavedState) error {
	return p.onThread(id, func(t *thread) error { return p.restore(t, s) })
}

func (p *Process) restore(t *thread, s *target.SavedState) error {
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
}
