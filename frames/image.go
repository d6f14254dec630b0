package frames

import "dbg/image"

// ModuleOf makes a module from a file: its unwind tables, and what else the strategies
// must know of it. debug is the separate debug file or nil; only its .debug_frame counts, where
// the file itself has no table. The caller fills in Name, Lo, Hi and Bias. Nothing is
// read but section headers; the module is valid as long as the files are open.
func ModuleOf(f, debug *image.File) *Module {
	m := &Module{Entry: uint64(f.Entry()), file: f}
	m.EHFrameHdr = sectionOf(f, ".eh_frame_hdr")
	m.EHFrame = sectionOf(f, ".eh_frame")
	m.DebugFrame = sectionOf(f, ".debug_frame")
	if m.EHFrame.Data == nil && m.DebugFrame.Data == nil && debug != nil {
		m.DebugFrame = sectionOf(debug, ".debug_frame")
	}
	if s, ok := f.Section(".text"); ok {
		m.Text = uint64(s.Addr)
	}
	if s, ok := f.Section(".got"); ok {
		m.Data = uint64(s.Addr)
	}
	for _, name := range []string{".plt", ".plt.sec", ".plt.got"} {
		if s, ok := f.Section(name); ok {
			m.PLT = append(m.PLT, Range{Lo: uint64(s.Addr), Hi: uint64(s.Addr) + s.Size})
		}
	}
	for _, name := range []string{".text", ".plt", ".plt.sec", ".plt.got"} {
		if s, ok := f.Section(name); ok && s.Data != nil {
			m.Code = append(m.Code, Section{Data: s.Data, Addr: uint64(s.Addr)})
		}
	}
	_, m.Go = f.Section(".go.buildinfo")
	return m
}

func sectionOf(f *image.File, name string) Section {
	if s, ok := f.Section(name); ok {
		return Section{Data: s.Data, Addr: uint64(s.Addr)}
	}
	return Section{}
}
