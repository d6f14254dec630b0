package frames

// goStackSwitchers are the functions of Go's runtime that call others on another stack: on the
// scheduler's, or on the thread's before they ask the kernel's vDSO for the time. Their rows hold
// while control is in themselves. Go's own unwinder knows them by a flag that is not in
// .debug_frame (SPWRITE), and stops at them too.
var goStackSwitchers = map[string]bool{"runtime.mcall": true, "runtime.morestack": true, "runtime.systemstack": true, "runtime.asmcgocall": true,
	"runtime.switchToCrashStack0": true, "runtime.nanotime1": true, "runtime.walltime": true, "time.now": true}

// goVDSOCallers are those of goStackSwitchers that call the vDSO. They save their own SP in R12 (R20
// on arm64), which C preserves. So the instructions after the call say where the caller is.
var goVDSOCallers = map[string]bool{"runtime.nanotime1": true, "runtime.walltime": true, "time.now": true}

// goIndirectCallees are the functions that goStackSwitchers call by address on the other stack.
// All their other indirect calls happen before the switch.
var goIndirectCallees = map[string]bool{"runtime.newstack": true, "runtime.asmcgocall_landingpad": true}

// leftStack returns the name of the function of Go that the site, a return address, is in, if that
// function has made its call on another stack; else "". Its row does not lead to the caller then.
func (w *Walk) leftStack(s *site) string {
	m := s.module
	if m == nil || !m.Go || s.precise {
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
	to := uint64(w.u.machine.directCall(s.before(), s.pc)) - m.Bias
	if lo, ok := m.functionAt(w.u.arch, to); !ok || lo != to {
		return name // through a register
	}
	for _, r := range m.beyond {
		if r.Lo <= to && to < r.Hi {
			return name
		}
	}
	return ""
}
