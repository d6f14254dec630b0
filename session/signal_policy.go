package session

import (
	"errors"
	"fmt"
	"strings"

	"dbg/target"
)

// SignalSetting specifies how a signal is handled.
type SignalSetting struct {
	target.SignalPolicy
	Print bool
}

// Signal returns how a signal is handled.
func (s *Session) Signal(sig int) SignalSetting {
	out, _ := ask(s, func() (SignalSetting, error) { return s.signal(sig), nil })
	return out
}

func (s *Session) signal(sig int) SignalSetting {
	if set, ok := s.signals[sig]; ok {
		return set
	}
	p := target.DefaultSignalPolicy(sig)
	return SignalSetting{SignalPolicy: p, Print: p.Stop}
}

// SetSignal changes how a signal is handled. A signal that stops the program is also printed.
func (s *Session) SetSignal(sig int, set SignalSetting) error {
	if sig < 1 || sig >= target.NumSignals {
		return fmt.Errorf("no signal %d", sig)
	}
	return s.try(func() error {
		s.signals[sig] = set
		for _, o := range s.group.list() {
			if o.proc != nil {
				o.sendSignalPolicy(sig)
			}
		}
		return nil
	})
}

// HandleSignals changes how signals are handled, in the syntax of gdb's handle command: "SIGUSR1
// nostop noprint", "all nopass". It returns the signals.
func (s *Session) HandleSignals(text string) ([]int, error) {
	var signals []int
	var actions []string
	for _, w := range strings.Fields(text) {
		switch w {
		case "stop", "nostop", "print", "noprint", "pass", "nopass", "ignore", "noignore":
			actions = append(actions, w)
		case "all":
			for n := 1; n < target.NumSignals; n++ {
				// As in gdb, "all" excludes the signals that the debugger uses itself.
				if name := target.SignalName(n); name != "SIGTRAP" && name != "SIGINT" {
					signals = append(signals, n)
				}
			}
		default:
			n := target.SignalByName(strings.ToUpper(w))
			if n == 0 {
				return nil, fmt.Errorf("Unrecognized or ambiguous flag word: \"%s\".", w) //lint:ignore ST1005 gdb's words, shown as they are
			}
			signals = append(signals, n)
		}
	}
	if len(signals) == 0 {
		return nil, errors.New("Argument required (signal to handle).") //lint:ignore ST1005 gdb's words, shown as they are
	}
	for _, n := range signals {
		set := s.Signal(n)
		for _, a := range actions {
			set.act(a)
		}
		if err := s.SetSignal(n, set); err != nil {
			return nil, err
		}
	}
	return signals, nil
}

// act applies one keyword of handle to a setting. A signal that stops is printed, and one that is
// not printed does not stop.
func (set *SignalSetting) act(word string) {
	switch word {
	case "stop":
		set.Stop, set.Print = true, true
	case "nostop":
		set.Stop = false
	case "print":
		set.Print = true
	case "noprint":
		set.Print, set.Stop = false, false
	case "pass", "noignore":
		set.Pass = true
	case "nopass", "ignore":
		set.Pass = false
	}
}

// PassAllSignals makes the program run as without a debugger: no signal stops it.
func (s *Session) PassAllSignals() {
	for n := 1; n < target.NumSignals; n++ {
		_ = s.SetSignal(n, SignalSetting{SignalPolicy: target.SignalPolicy{Pass: true}})
	}
}
