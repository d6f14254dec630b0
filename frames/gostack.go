package frames

// goSwitches are the functions of Go's runtime that call others on another stack: the scheduler's, or, before they ask the kernel's vDSO for
// the time, the thread's. Their rows say where their caller is while they are on their own. Go's own unwinder knows them by a flag
// that is not in .debug_frame (SPWRITE), and does not go beyond them either.
var goSwitches = map[string]bool{"runtime.mcall": true, "runtime.morestack": true, "runtime.systemstack": true, "runtime.asmcgocall": true,
	"runtime.switchToCrashStack0": true, "runtime.nanotime1": true, "runtime.walltime": true, "time.now": true}

// goAsks are those among them that ask the vDSO. They keep their own SP in R12 (R20 on arm64), which C does not change, so that the instructions behind
// the call say where the caller is, on whatever stack they have asked.
var goAsks = map[string]bool{"runtime.nanotime1": true, "runtime.walltime": true, "time.now": true}

// goBeyond are the functions that they call there by their addresses. What else they call so is called before.
var goBeyond = map[string]bool{"runtime.newstack": true, "runtime.asmcgocall_landingpad": true}

// leftStack is the name of the function of Go that the site, a return address, is in, if that has called on another stack; else "".
// What is there where its row has the caller is anything.
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
	to := uint64(directCall(w.u.arch, s.before(), s.pc)) - m.Bias
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
