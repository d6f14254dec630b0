package module

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

	// FunctionAt and Compiler are as in Contents. If they are nil, the module uses its own.
	FunctionAt func(pc uint64) (lo, hi uint64, ok bool)
	Compiler   *cfi.Compiler
}

// At makes the module of a file that is mapped. debug is its separate debug file, or nil. The
// module is valid as long as the files are open.
func At(f, debug *image.File, p Placement) *Module { return New(ContentsAt(f, debug, p)) }

// Placed returns the module of the same file at another place. Both share the tables, and all else that
// is derived from the file, whichever module needs it first. The result uses the Compiler of m. p.FunctionAt
// must give the same answers as that of m, or be nil.
func (m *Module) Placed(p Placement) *Module {
	c := m.contents
	c.Name, c.Lo, c.Hi, c.Bias = p.Name, p.Lo, p.Hi, p.Bias
	if p.FunctionAt != nil {
		c.FunctionAt = p.FunctionAt
	}
	return &Module{contents: c, derived: m.derived}
}

// SharesTables reports whether m and o are places of one file, and so share their tables.
func (m *Module) SharesTables(o *Module) bool { return m.derived == o.derived }

// Of makes the module of a file with the file's own addresses.
func Of(f, debug *image.File) *Module { return New(contentsOf(f, debug)) }

// ContentsAt returns the contents from which At makes a module, to make variants of it.
func ContentsAt(f, debug *image.File, p Placement) Contents {
	c := contentsOf(f, debug)
	c.Name, c.Lo, c.Hi, c.Bias, c.Compiler = p.Name, p.Lo, p.Hi, p.Bias, p.Compiler
	if p.FunctionAt != nil {
		c.FunctionAt = p.FunctionAt
	}
	return c
}

// contentsOf finds the unwind tables of a file, and everything else that the strategies need. It
// reads only section headers.
//
// If the file has no .debug_frame, that of the debug file serves, and last of all that of
// .gnu_debugdata. An .eh_frame is not a reason to omit them: every linked program has one, for the
// functions in the start files.
func contentsOf(f, debug *image.File) Contents {
	c := Contents{Entry: uint64(f.Entry()), file: f, debug: debug, reading: new(sync.Mutex)}
	c.FunctionAt = c.functionFinder()
	if f.Format() == image.MachO {
		c.addMachO()
		return c
	}
	if f.Format() == image.PE {
		c.addPE()
	}
	c.EHFrameHdr = sectionOf(f, ".eh_frame_hdr")
	c.EHFrame = sectionOf(f, ".eh_frame")
	if c.EHFrame.Data == nil {
		if hdr, frame, ok := f.EHFrame(); ok {
			c.EHFrameHdr = Section{Data: hdr.Data, Addr: uint64(hdr.Addr)}
			c.EHFrame = Section{Data: frame.Data, Addr: uint64(frame.Addr)}
		}
	}
	c.addExceptionIndex()
	c.addSFrame()
	c.addORC()
	c.DebugFrame = sectionOf(f, ".debug_frame")
	if c.DebugFrame.Data == nil && debug != nil {
		c.DebugFrame = sectionOf(debug, ".debug_frame")
	}
	c.hasMini = c.DebugFrame.Data == nil && f.HasSection(".gnu_debugdata")
	if s, ok := f.Section(".text"); ok {
		c.Text = uint64(s.Addr)
	}
	if s, ok := f.Section(".got"); ok {
		c.Data = uint64(s.Addr)
	}
	c.addCode(".text", ".plt", ".plt.sec", ".plt.got", ".iplt")
	if len(f.Sections()) == 0 {
		for _, s := range f.Segments() {
			if b := f.ContentsFrom(s.Lo); s.Exec && b != nil {
				c.Code = append(c.Code, Section{Data: b, Addr: uint64(s.Lo)})
			}
		}
	}
	if !c.Go {
		_, c.Go = f.Section(".go.buildinfo")
	}
	return c
}

// addMachO does the part of contentsOf that is different for Mach-O files.
func (c *Contents) addMachO() {
	f, debug := c.file, c.debug
	c.EHFrame, c.MachO = sectionOf(f, "__eh_frame"), true
	c.DebugFrame = sectionOf(f, ".debug_frame")
	if c.DebugFrame.Data == nil && debug != nil {
		c.DebugFrame = sectionOf(debug, ".debug_frame")
	}
	c.UnwindInfo = sectionOf(f, "__unwind_info")
	c.Header = uint64(f.HeaderAddr())
	c.Starts = sync.OnceValue(func() (list []uint64) {
		for _, a := range f.FunctionStarts() {
			list = append(list, uint64(a))
		}
		return list
	})
	c.addCode("__text", "__stubs", "__stub_helper", "__auth_stubs")
	for _, name := range []string{"__stubs", "__auth_stubs", "__objc_stubs", "__stub_helper"} {
		if s := sectionOf(f, name); s.Data != nil {
			c.Stubs = append(c.Stubs, NamedSection{name, s})
		}
	}
}

// addCode adds a section of ordinary code, and sections of linkage stubs.
func (c *Contents) addCode(text string, stubs ...string) {
	for _, name := range append([]string{text}, stubs...) {
		s, ok := c.file.Section(name)
		if !ok {
			continue
		}
		if name != text {
			c.PLT = append(c.PLT, Range{Lo: uint64(s.Addr), Hi: uint64(s.Addr) + s.Size})
		}
		if s.Data != nil {
			c.Code = append(c.Code, Section{Data: s.Data, Addr: uint64(s.Addr)})
		}
	}
}

// functionFinder returns a function that finds functions by the symbols of the file and of its
// debug file. It reads the symbols when it is called first.
func (c *Contents) functionFinder() func(pc uint64) (lo, hi uint64, ok bool) {
	files := *c
	list := sync.OnceValue(func() (list []Range) {
		for _, f := range []*image.File{files.file, files.debug} {
			if f == nil {
				continue
			}
			for _, s := range files.symbolsOf(f) {
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

// symbolsOf returns the symbols of one of the files.
func (c *Contents) symbolsOf(f *image.File) []image.Symbol {
	c.reading.Lock()
	defer c.reading.Unlock()
	return f.Symbols()
}

func sectionOf(f *image.File, name string) Section {
	if s, ok := f.Section(name); ok {
		return Section{Data: s.Data, Addr: uint64(s.Addr)}
	}
	return Section{}
}
