package frames

// goVDSOCallers are those functions of Go (module.StackSwitcher) that call the vDSO. They save
// their own SP in R12 (R20 on arm64), which C preserves, so the instructions after the call lead
// to the caller.
var goVDSOCallers = map[string]bool{"runtime.nanotime1": true, "runtime.walltime": true, "time.now": true}

// leftStack returns the name of the Go function that contains the site, a return address, if that
// function has made its call on another stack; otherwise "". Its row does not lead to the caller
// then.
func (w *Walk) leftStack(s *site) string {
	m := s.module
	if m == nil || !m.IsGo() || s.precise {
		return ""
	}
	pc := s.filePC()
	name := m.StackSwitcher(pc)
	if name == "" {
		return ""
	}
	to := uint64(w.u.machine.DirectCall(s.before(), s.pc)) - m.Bias()
	if lo, ok := m.FunctionStart(w.u.arch, to); !ok || lo != to {
		return name // through a register
	}
	if m.IsIndirectCallee(to) {
		return name
	}
	return ""
}
