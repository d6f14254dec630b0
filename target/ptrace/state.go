package ptrace

import (
	"bytes"

	"dbg/target"
	"dbg/target/ptrace/kernel"
)

var (
	_ target.StateReader  = (*Process)(nil)
	_ target.AuxvReader   = (*Process)(nil)
	_ target.RegionReader = (*Process)(nil)
)

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
