package module

import (
	"sync"

	"dbg/cfi"
	"dbg/dyninfo"
	"dbg/image"
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

	// ExIdx is ARM's .ARM.exidx. ExTab returns the bytes of the file from an address on, at most
	// n, for the entries in .ARM.extab. CodeEnd is the end of the code that the last entry covers.
	ExIdx   Section
	ExTab   func(addr uint64, n int) []byte
	CodeEnd uint64

	// SFrame is .sframe.
	SFrame Section

	// FunctionTable is the function table of a PE image (.pdata), whose addresses are relative to
	// ImageBase. ReadImage returns n bytes of the image at an address in the file, or nil.
	FunctionTable Section
	ImageBase     uint64
	ReadImage     func(addr uint64, n int) []byte

	// ORC holds the tables of a Linux kernel.
	ORC ORC

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

	// Registered marks code that the program registered with libunwind (package dyninfo). Frames from
	// its tables have the strategy DynInfo. DynInfo has the rows of its regions; it is nil if the
	// program registered call frame information.
	Registered bool
	DynInfo    *dyninfo.Table

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
	*derived
}

// derived holds the data that a module derives from its file. It does not depend on the place of the file
// in a process, so that all places of one file share it: see Module.Placed.
type derived struct {
	tables tables // see tables.go

	miniOnce  sync.Once
	mini      *image.File // in .gnu_debugdata; see miniDebug
	firstOnce sync.Once
	first     []Range // see gofunctions.go
	clone     Range

	thumbOnce sync.Once
	functions []uint64 // ARM: the values of function symbols; see ThumbSymbol

	startsOnce sync.Once
	threads    []Range // see threadstart.go

	switches        []goSwitch // see StackSwitcher
	indirectCallees []Range    // see IsIndirectCallee
}

// New makes a module. Use it for sections that come from elsewhere than a file; for a file,
// use At. A copy of another module's contents makes a variant of it.
func New(c Contents) *Module {
	if c.reading == nil {
		c.reading = new(sync.Mutex)
	}
	return &Module{contents: c, derived: &derived{}}
}

// Contents returns a copy of the module's contents.
func (m *Module) Contents() Contents { return m.contents }

// Name returns the name of the file.
func (m *Module) Name() string { return m.contents.Name }

// Bias returns process address minus file address.
func (m *Module) Bias() uint64 { return m.contents.Bias }

// Kind returns the kind of the module's call frame information: DynInfo, JIT or CFI.
func (m *Module) Kind() Kind {
	if m.contents.Registered {
		return KindDynInfo
	}
	if m.contents.JIT {
		return KindJIT
	}
	return KindCFI
}

// CodeAt returns n bytes of the file's code at an address in the file, or nil.
func (m *Module) CodeAt(addr uint64, n int) []byte {
	for i := range m.contents.Code {
		c := &m.contents.Code[i]
		if off := addr - c.Addr; off < uint64(len(c.Data)) && uint64(len(c.Data))-off >= uint64(n) {
			return c.Data[off : off+uint64(n)]
		}
	}
	return nil
}

// IsGo reports whether the module's functions preserve no registers but the frame pointer: see
// Contents.Go.
func (m *Module) IsGo() bool { return m.contents.Go }

// InPLT reports whether pc, an address in the file, is in a PLT section.
func (m *Module) InPLT(pc uint64) bool {
	for _, r := range m.contents.PLT {
		if r.Lo <= pc && pc < r.Hi {
			return true
		}
	}
	return false
}

// Symbol returns the bounds of the function at pc, an address in the file, according to symbols
// (Contents.FunctionAt).
func (m *Module) Symbol(pc uint64) (lo, hi uint64, ok bool) {
	if m.contents.FunctionAt == nil {
		return 0, 0, false
	}
	return m.contents.FunctionAt(pc)
}

// Range is a half-open range of addresses.
type Range struct{ Lo, Hi uint64 }
