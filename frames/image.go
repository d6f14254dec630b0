package frames

import (
	"cmp"
	"slices"
	"sync"

	"dbg/cfi"
	"dbg/image"
	"dbg/target"
)

// Placement is the place of a module in a process, with information from its owner.
type Placement struct {
	Name   string
	Lo, Hi target.Addr // bounds of the mapped addresses
	Bias   uint64      // process address minus file address

	// FunctionAt and Compiler are as in Module; nil selects the module's own.
	FunctionAt func(pc uint64) (lo, hi uint64, ok bool)
	Compiler   *cfi.Compiler
}

// ModuleAt is ModuleOf for a mapped file. The module is complete and does not change any more.
func ModuleAt(f, debug *image.File, p Placement) *Module {
	m := ModuleOf(f, debug)
	m.place(&p)
	return m
}

func (m *Module) place(p *Placement) {
	m.Name, m.Lo, m.Hi, m.Bias, m.Compiler = p.Name, p.Lo, p.Hi, p.Bias, p.Compiler
	if p.FunctionAt != nil {
		m.FunctionAt = p.FunctionAt
	}
}

// ModuleOf makes a module from a file, with the file's own addresses: its unwind tables, and other
// information for the strategies. debug is the separate debug file or nil. If the file has no
// .debug_frame, the module uses that of debug. As a last resort it uses the one in .gnu_debugdata.
// An .eh_frame does not replace these: every linked program has one for the functions of the start
// files. ModuleOf reads only section headers. The module is valid as long as the files are open.
func ModuleOf(f, debug *image.File) *Module {
	m := &Module{Entry: uint64(f.Entry()), file: f, debug: debug}
	m.FunctionAt = m.functionFinder(f, debug)
	if f.Format() == image.MachO {
		m.ofMachO(f, debug)
		return m
	}
	m.EHFrameHdr = sectionOf(f, ".eh_frame_hdr")
	m.EHFrame = sectionOf(f, ".eh_frame")
	if m.EHFrame.Data == nil {
		if hdr, frame, ok := f.EHFrame(); ok {
			m.EHFrameHdr = Section{Data: hdr.Data, Addr: uint64(hdr.Addr)}
			m.EHFrame = Section{Data: frame.Data, Addr: uint64(frame.Addr)}
		}
	}
	m.DebugFrame = sectionOf(f, ".debug_frame")
	if m.DebugFrame.Data == nil && debug != nil {
		m.DebugFrame = sectionOf(debug, ".debug_frame")
	}
	m.hasMini = m.DebugFrame.Data == nil && f.HasSection(".gnu_debugdata")
	if s, ok := f.Section(".text"); ok {
		m.Text = uint64(s.Addr)
	}
	if s, ok := f.Section(".got"); ok {
		m.Data = uint64(s.Addr)
	}
	m.addCode(f, ".text", ".plt", ".plt.sec", ".plt.got", ".iplt")
	if len(f.Sections()) == 0 {
		for _, s := range f.Segments() {
			if b := f.ContentsFrom(s.Lo); s.Exec && b != nil {
				m.Code = append(m.Code, Section{Data: b, Addr: uint64(s.Lo)})
			}
		}
	}
	_, m.Go = f.Section(".go.buildinfo")
	return m
}

// ofMachO is ModuleOf for Mach-O files.
func (m *Module) ofMachO(f, debug *image.File) {
	m.EHFrame, m.MachO = sectionOf(f, "__eh_frame"), true
	m.DebugFrame = sectionOf(f, ".debug_frame")
	if m.DebugFrame.Data == nil && debug != nil {
		m.DebugFrame = sectionOf(debug, ".debug_frame")
	}
	m.UnwindInfo = sectionOf(f, "__unwind_info")
	m.Header = uint64(f.HeaderAddr())
	m.Starts = sync.OnceValue(func() (list []uint64) {
		for _, a := range f.FunctionStarts() {
			list = append(list, uint64(a))
		}
		return list
	})
	m.addCode(f, "__text", "__stubs", "__stub_helper", "__auth_stubs")
	for _, name := range []string{"__stubs", "__auth_stubs", "__objc_stubs", "__stub_helper"} {
		if s := sectionOf(f, name); s.Data != nil {
			m.Stubs = append(m.Stubs, NamedSection{name, s})
		}
	}
}

// addCode records the places of code: a section of ordinary code, and sections of stubs.
func (m *Module) addCode(f *image.File, text string, stubs ...string) {
	for _, name := range append([]string{text}, stubs...) {
		s, ok := f.Section(name)
		if !ok {
			continue
		}
		if name != text {
			m.PLT = append(m.PLT, Range{Lo: uint64(s.Addr), Hi: uint64(s.Addr) + s.Size})
		}
		if s.Data != nil {
			m.Code = append(m.Code, Section{Data: s.Data, Addr: uint64(s.Addr)})
		}
	}
}

// functionFinder returns a function that finds functions by the symbols of a file and of its debug
// file. It reads them at the first call.
func (m *Module) functionFinder(f, debug *image.File) func(pc uint64) (lo, hi uint64, ok bool) {
	list := sync.OnceValue(func() (list []Range) {
		for _, f := range []*image.File{f, debug} {
			if f == nil {
				continue
			}
			for _, s := range m.symbolsOf(f) {
				if (s.Kind == image.Func || s.Kind == image.IFunc) && s.Size > 0 {
					list = append(list, Range{uint64(s.Addr), uint64(s.Addr) + s.Size})
				}
			}
		}
		slices.SortFunc(list, func(a, b Range) int { return cmp.Or(cmp.Compare(a.Lo, b.Lo), cmp.Compare(a.Hi, b.Hi)) })
		return slices.Compact(list)
	})
	const around = 8 // number of symbols before PC to check: an enclosing one may begin earlier
	return func(pc uint64) (lo, hi uint64, ok bool) {
		list := list()
		i, _ := slices.BinarySearchFunc(list, pc, func(r Range, pc uint64) int {
			if r.Lo <= pc {
				return -1
			}
			return 1
		})
		for n := 0; n < around && i > 0; n++ {
			if i--; pc < list[i].Hi {
				return list[i].Lo, list[i].Hi, true
			}
		}
		return 0, 0, false
	}
}

func sectionOf(f *image.File, name string) Section {
	if s, ok := f.Section(name); ok {
		return Section{Data: s.Data, Addr: uint64(s.Addr)}
	}
	return Section{}
}
