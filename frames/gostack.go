package frames

// goStackSwitchers are the functions of Go's runtime that call others on another stack: on the
// scheduler's stack, or on the thread's stack before they call the kernel's vDSO for the time.
// Their rows are valid while control is in the functions themselves. Go's own unwinder identifies
// them by a flag that is not in .debug_frame (SPWRITE), and stops at them too.
var goStackSwitchers = map[string]bool{"runtime.mcall": true, "runtime.morestack": true, "runtime.systemstack": true, "runtime.asmcgocall": true,
	"runtime.switchToCrashStack0": true, "runtime.nanotime1": true, "runtime.walltime": true, "time.now": true}

// goVDSOCallers are those goStackSwitchers that call the vDSO. They save their own SP in R12 (R20
// on arm64), which C preserves, so the instructions after the call lead to the caller.
var goVDSOCallers = map[string]bool{"runtime.nanotime1": true, "runtime.walltime": true, "time.now": true}

// goIndirectCallees are the functions that goStackSwitchers call by address on the other stack.
// All their other indirect calls happen before the switch.
var goIndirectCallees = map[string]bool{"runtime.newstack": true, "runtime.asmcgocall_landingpad": true}

// leftStack returns the name of the Go function that contains the site, a return address, if that
// function has made its call on another stack; otherwise "". Its row does not lead to the caller
// then.
func (w *Walk) leftStack(s *site) string {
	m := s.module
	if m == nil || !m.contents.Go || s.precise {
		return ""
	}
	pc := s.filePC()
	m.isFirst(pc, false)
	name := ""
	for i := range m.switches {
		if r := &m.switches[i]; r.Lo <= pc && pc < r.Hi {
			name = r.name
		}
	}
	if name == "" {
		return ""
	}
	to := uint64(w.u.machine.DirectCall(s.before(), s.pc)) - m.contents.Bias
	if lo, ok := m.functionAt(w.u.arch, to); !ok || lo != to {
		return name // through a register
	}
	for _, r := range m.indirectCallees {
		if r.Lo <= to && to < r.Hi {
			return name
		}
	}
	return ""
}
