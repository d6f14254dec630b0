package signals

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"dbg/target/ptrace/kernel"
)

// Queue holds the signals of one thread. The zero value is empty.
type Queue struct {
	held   []kernel.SigInfo // held back during a step
	resent []kernel.SigInfo // sent again with tgkill, not arrived yet
}

// HoldBack keeps a signal for later. It keeps only one instance of a standard signal, as the kernel
// does: signal(7).
func (q *Queue) HoldBack(sig int, info *kernel.SigInfo) {
	if sig < 32 {
		for i := range q.held {
			if q.held[i].Signo() == sig {
				return
			}
		}
	}
	q.held = append(q.held, *info)
}

// Holding reports whether a signal is held back.
func (q *Queue) Holding() bool { return len(q.held) > 0 }

// Next removes the oldest signal that is held back, and copies it to info.
func (q *Queue) Next(info *kernel.SigInfo) {
	*info = q.held[0]
	q.held = q.held[1:]
}

// Held returns a copy of the signals that are held back.
func (q *Queue) Held() []kernel.SigInfo { return slices.Clone(q.held) }

// SetHeld replaces the signals that are held back by a copy of list.
func (q *Queue) SetHeld(list []kernel.SigInfo) { q.held = slices.Clone(list) }

// ResendHeld sends all signals that are held back to the thread.
func (q *Queue) ResendHeld(pid, tid int) {
	for i := range q.held {
		q.Resend(pid, tid, &q.held[i])
	}
	q.held = nil
}

// Resend sends a signal to the thread. rt_tgsigqueueinfo(2) could pass its siginfo, but not if that
// came from kill or from the kernel. So Arrived restores the siginfo when the signal arrives.
func (q *Queue) Resend(pid, tid int, info *kernel.SigInfo) {
	q.resent = append(q.resent, *info)
	_ = unix.Tgkill(pid, tid, unix.Signal(info.Signo()))
}

// Arrived reports whether the thread has stopped with a signal that was sent by Resend. If so, it
// restores the original siginfo in info.
func (q *Queue) Arrived(sig int, info *kernel.SigInfo) bool {
	// In another pid namespace, our process id is shown as 0: pid_namespaces(7).
	if pid := info.PID(); len(q.resent) == 0 || info.Code() != kernel.CodeTkill || pid != os.Getpid() && pid != 0 {
		return false
	}
	for i := range q.resent {
		if q.resent[i].Signo() == sig {
			*info = q.resent[i]
			q.resent = append(q.resent[:i], q.resent[i+1:]...)
			return true
		}
	}
	return false
}
