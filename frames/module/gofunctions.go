package module

import (
	"strings"

	"dbg/image/gopclntab"
)

// goStackSwitchers are the functions of Go's runtime that call others on another stack: on the
// scheduler's stack, or on the thread's stack before they call the kernel's vDSO for the time.
// Their rows are valid while control is in the functions themselves. Go's own unwinder identifies
// them by a flag that is not in .debug_frame (SPWRITE), and stops at them too.
var goStackSwitchers = map[string]bool{"runtime.mcall": true, "runtime.morestack": true, "runtime.systemstack": true, "runtime.asmcgocall": true,
	"runtime.switchToCrashStack0": true, "runtime.nanotime1": true, "runtime.walltime": true, "time.now": true}

// goIndirectCallees are the functions that goStackSwitchers call by address on the other stack.
// All their other indirect calls happen before the switch.
var goIndirectCallees = map[string]bool{"runtime.newstack": true, "runtime.asmcgocall_landingpad": true}

// goSwitch is one of goStackSwitchers in a module.
type goSwitch struct {
	Range
	name string
}

// goOutermost are the functions of Go's runtime without a caller: control jumps to them, or the
// runtime makes them look as if they had called the first function of a goroutine. Go's own
// unwinder identifies them by a flag that is not in the file (TOPFRAME). runtime.clone has a caller
// in the parent. In the child, which alone makes calls from there, it has none.
var goOutermost = map[string]bool{"runtime.goexit": true, "runtime.goexit.abi0": true, "runtime.rt0_go": true, "runtime.rt0_go.abi0": true,
	"_rt0_amd64": true, "_rt0_arm64": true, "_rt0_amd64_linux": true, "_rt0_arm64_linux": true}

var goThreadClone = map[string]bool{"runtime.clone": true, "runtime.clone.abi0": true}

// IsOutermost reports whether pc, an address in the file, is in a Go function that has no caller.
// calling is set if pc is a return address.
func (m *Module) IsOutermost(pc uint64, calling bool) bool {
	m.findGoFunctions()
	for _, r := range m.first {
		if r.Lo <= pc && pc < r.Hi {
			return true
		}
	}
	return calling && m.clone.Lo <= pc && pc < m.clone.Hi
}

// StackSwitcher returns the name of the function at pc, an address in the file, if it is one of
// Go's functions that call others on another stack; otherwise "".
func (m *Module) StackSwitcher(pc uint64) (name string) {
	m.findGoFunctions()
	for i := range m.switches {
		if r := &m.switches[i]; r.Lo <= pc && pc < r.Hi {
			name = r.name
		}
	}
	return name
}

// IsIndirectCallee reports whether pc, an address in the file, is in a function that Go's functions
// call by address on the other stack.
func (m *Module) IsIndirectCallee(pc uint64) bool {
	m.findGoFunctions()
	for _, r := range m.indirectCallees {
		if r.Lo <= pc && pc < r.Hi {
			return true
		}
	}
	return false
}

// findGoFunctions finds the special functions of Go's runtime, once.
func (m *Module) findGoFunctions() {
	m.firstOnce.Do(func() {
		if m.contents.file == nil {
			return
		}
		for _, s := range m.contents.symbolsOf(m.contents.file) {
			if s.Size > 0 {
				m.noteGoFunction(s.Name, Range{uint64(s.Addr), uint64(s.Addr) + s.Size})
			}
		}
		if m.contents.Go && len(m.first) == 0 { // the file was stripped
			m.contents.reading.Lock()
			defer m.contents.reading.Unlock()
			if t, err := gopclntab.Open(m.contents.file); err == nil {
				for i := range t.Len() {
					if f, ok := t.Func(i); ok {
						m.noteGoFunction(f.Name, Range{f.Lo, f.Hi})
					}
				}
			}
		}
	})
}

// noteGoFunction records a function if it is one of the special functions of Go's runtime.
func (m *Module) noteGoFunction(name string, r Range) {
	if goOutermost[name] {
		m.first = append(m.first, r)
	} else if goThreadClone[name] {
		m.clone = r
	} else if name = strings.TrimSuffix(name, ".abi0"); goStackSwitchers[name] {
		m.switches = append(m.switches, goSwitch{r, name})
	} else if goIndirectCallees[name] {
		m.indirectCallees = append(m.indirectCallees, r)
	}
}
