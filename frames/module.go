package frames

import (
	"strings"
	"sync"

	"dbg/cfi"
	"dbg/image"
	"dbg/image/gopclntab"
	"dbg/target"
)

// Section holds a section's bytes and its address in the file's address space. Data is nil if the
// file has no such section.
type Section struct {
	Data []byte
	Addr uint64
}

// NamedSection is a section and its name.
type NamedSection struct {
	Name string
	Section
}

// Contents holds the sections and properties of one mapped file from which a Module is made. The
// unwinder does not change the slices.
type Contents struct {
	Name string
	// Lo and Hi bound the addresses that were mapped when the module was made: only the Space uses
	// them. Bias is process address minus file address.
	Lo, Hi target.Addr
	Bias   uint64

	EHFrameHdr, EHFrame, DebugFrame Section

	// MachO is set if EHFrame is a Mach-O file's __eh_frame, which numbers i386's registers
	// differently.
	MachO bool

	// UnwindInfo is Apple's __unwind_info, whose offsets are relative to Header, the address of
	// the Mach-O header. Starts returns the starts of functions (LC_FUNCTION_STARTS), by ascending
	// address; it may be nil.
	UnwindInfo Section
	Header     uint64
	Starts     func() []uint64

	// Stubs are a Mach-O file's stub sections.
	Stubs []NamedSection

	// Unrefined makes the unwinder use UnwindInfo literally, as if its rows were valid in
	// prologues and epilogues too. It serves to measure the quality of the format.
	Unrefined bool

	// Code holds the file's code, as far as it is available: reading instructions from it needs no
	// access to the process.
	Code []Section

	// JIT marks code that the program generated at run time. Frames from its tables have the
	// strategy JIT.
	JIT bool

	// Go is set if .debug_frame describes Go functions, which preserve no registers (Go's
	// ABIInternal).
	Go bool

	// FunctionAt returns the bounds of the function at an address in the file, from symbols, for
	// code that no table covers. It may be nil.
	FunctionAt func(pc uint64) (lo, hi uint64, ok bool)

	// Text and Data are the bases of DW_EH_PE_textrel and DW_EH_PE_datarel,
	// in the file's address space.
	Text, Data uint64

	// PLT lists the address ranges of PLT sections, in the file's address space.
	PLT []Range

	// Entry is the file's entry point (_start), in the file's address space, or 0.
	Entry uint64

	// Compiler belongs to the module's address space: modules share the results that it caches. If
	// it is nil, the module uses its own.
	Compiler *cfi.Compiler

	file    *image.File // the module's file, or nil
	debug   *image.File // its separate debug file, or nil
	hasMini bool        // .gnu_debugdata may have a .debug_frame
	reading *sync.Mutex // guards the files and Module.mini: one goroutine at a time may use each of them
}

// Module holds the unwinder's information about one mapped file: its Contents, and the data that it
// derives from them on first use. The contents never change. Several goroutines may use one Module.
type Module struct {
	contents Contents

	tables tables // derived data; see tables.go

	miniOnce  sync.Once
	mini      *image.File // in .gnu_debugdata; see miniDebug
	firstOnce sync.Once
	first     []Range // see isFirst
	clone     Range

	thumbOnce sync.Once
	functions []uint64 // ARM: the values of function symbols; see isThumb

	startsOnce sync.Once
	threads    []Range // see isThreadStart

	switches        []goSwitch // see Walk.leftStack
	indirectCallees []Range    // goIndirectCallees in this module
}

// NewModule makes a module. Use it for sections that come from elsewhere than a file; for a file,
// use ModuleAt. A copy of another module's contents makes a variant of it.
func NewModule(c Contents) *Module {
	if c.reading == nil {
		c.reading = new(sync.Mutex)
	}
	return &Module{contents: c}
}

// Contents returns a copy of the module's contents.
func (m *Module) Contents() Contents { return m.contents }

// Name returns the name of the file.
func (m *Module) Name() string { return m.contents.Name }

// Bias returns process address minus file address.
func (m *Module) Bias() uint64 { return m.contents.Bias }

// how returns the strategy of frames that the module's call frame information finds.
func (m *Module) how() Strategy {
	if m.contents.JIT {
		return JIT
	}
	return CFI
}

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

// isFirst reports whether pc, an address in the file, is in a Go function that has no caller.
// calling is set if pc is a return address.
func (m *Module) isFirst(pc uint64, calling bool) bool {
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
	for _, r := range m.first {
		if r.Lo <= pc && pc < r.Hi {
			return true
		}
	}
	return calling && m.clone.Lo <= pc && pc < m.clone.Hi
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

// threadStarts are the functions in which C libraries and linkers begin a process or a thread. Some
// are entered with a return address of zero, such as bionic's __start_thread.
var threadStarts = map[string]bool{"_start": true, "__start": true, "_dl_start_user": true,
	"clone": true, "__clone": true, "clone3": true, "__clone3": true, "__bionic_clone": true,
	"thread_start": true, "__thread_start": true, "start_thread": true, "__start_thread": true}

// isThreadStart reports whether pc, an address in the file, is in one of threadStarts.
func (m *Module) isThreadStart(pc uint64) bool {
	m.startsOnce.Do(func() {
		if m.contents.file == nil {
			return
		}
		for _, f := range []*image.File{m.contents.file, m.contents.debug, m.miniDebug()} {
			if f == nil {
				continue
			}
			for _, s := range m.contents.symbolsOf(f) {
				if s.Size > 0 && threadStarts[s.Name] {
					m.threads = append(m.threads, Range{uint64(s.Addr), uint64(s.Addr) + s.Size})
				}
			}
		}
	})
	for _, r := range m.threads {
		if r.Lo <= pc && pc < r.Hi {
			return true
		}
	}
	return false
}

// Range is a half-open range of addresses.
type Range struct{ Lo, Hi uint64 }

// Space is the process's address space as the unwinder sees it.
type Space interface {
	target.Memory
	// FindModule returns the module at pc, or nil.
	FindModule(pc target.Addr) *Module
	// Executable reports whether addr is in a mapping that can be executed.
	Executable(addr target.Addr) bool
}
