package ptrace

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/kernel"
)

// signalFor returns the signal to inject when a thread continues. Only a signal-delivery-stop takes
// one, and only one: ptrace(2), "Signal injection and suppression". Every other signal is sent
// again, and delivered when it arrives.
func (p *Process) signalFor(t *thread) int {
	sig := t.inject
	t.inject = 0
	if sig == 0 && len(t.later) > 0 && t.sigStop {
		t.info = t.later[0]
		sig = t.info.Signo()
		t.later = t.later[1:]
	}
	for i := range t.later {
		p.resend(t, t.later[i])
	}
	t.later = nil
	if sig == 0 {
		return 0
	}
	if !t.sigStop {
		p.resend(t, t.info)
		return 0
	}
	// If it is not the signal that the thread stopped with, the kernel would invent a siginfo.
	_ = kernel.SetSigInfo(t.tid, &t.info)
	s, _ := target.DecodeSigInfo(t.info[:], binary.LittleEndian, 8)
	p.lastFatal = &s
	return sig
}

// resend queues a signal for a thread. rt_tgsigqueueinfo(2) could pass its siginfo, but not if that
// came from kill or from the kernel. So arrived (note.go) restores the siginfo when the signal
// arrives.
func (p *Process) resend(t *thread, info kernel.SigInfo) {
	t.resent = append(t.resent, info)
	_ = unix.Tgkill(p.pid, t.tid, unix.Signal(info.Signo()))
}

// holdBack saves the signal that a thread would receive, for later. Only one instance of a standard
// signal is saved, as in the kernel: signal(7).
func (p *Process) holdBack(t *thread) {
	sig := t.inject
	t.inject = 0
	if sig < 32 {
		for i := range t.later {
			if t.later[i].Signo() == sig {
				return
			}
		}
	}
	t.later = append(t.later, t.info)
}
