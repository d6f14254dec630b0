package signals

import (
	"golang.org/x/sys/unix"

	"dbg/target"
)

// Policies holds what the client wants of each signal.
type Policies [target.NumSignals]target.SignalPolicy

// Defaults returns the policies that hold until the client changes them.
func Defaults() (p Policies) {
	for sig := range p {
		p[sig] = target.DefaultSignalPolicy(sig)
	}
	return p
}

// Of returns the policy of a signal. A number that is no signal is passed to the program.
func (p *Policies) Of(sig int) target.SignalPolicy {
	if sig <= 0 || sig >= len(p) {
		return target.SignalPolicy{Pass: true}
	}
	return p[sig]
}

// Set changes the policy of a signal.
func (p *Policies) Set(sig int, policy target.SignalPolicy) {
	if sig > 0 && sig < len(p) {
		p[sig] = policy
	}
}

// dumps is the set of signals that end a process with a core: signal(7), "Standard signals".
const dumps = 1<<unix.SIGQUIT | 1<<unix.SIGILL | 1<<unix.SIGTRAP | 1<<unix.SIGABRT | 1<<unix.SIGBUS | 1<<unix.SIGFPE | 1<<unix.SIGSEGV |
	1<<unix.SIGXCPU | 1<<unix.SIGXFSZ | 1<<unix.SIGSYS

// DumpsCore reports whether the kernel writes a core for a signal that the program does not handle.
func DumpsCore(sig int) bool { return uint64(sig) < 64 && uint64(dumps)>>sig&1 != 0 }
