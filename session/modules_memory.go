package session

import (
	"fmt"

	"dbg/image"
	"dbg/target"
)

// fromMemory gives a module without a file the symbols and unwind tables from the target's memory,
// as far as they are there: a Linux core often omits file contents.
func (s *Session) fromMemory(m *Module) {
	if f := s.mappedImage(m.Path, m.Lo); f != nil {
		s.useImage(m, f)
	}
}

// mappedImage reads the ELF image at an address of the target. It returns nil if there is none.
func (s *Session) mappedImage(name string, at target.Addr) *image.File {
	f, err := image.FromMapped(name, func(a uint64, b []byte) (int, error) { return s.tgt.ReadMemory(target.Addr(a), b) }, uint64(at))
	if err != nil {
		s.logf("can't read %s in memory: %v", name, err)
		return nil
	}
	if f.Format() != image.ELF || f.Arch() != s.tgt.Arch() {
		return nil
	}
	return f
}

// useImage makes an image in memory the module's file, if it has symbols or tables. The build id in
// the image may lead to a separate debug file.
func (s *Session) useImage(m *Module, f *image.File) {
	if id := f.BuildID(); id != "" {
		m.BuildID = id
	}
	if !f.HasSection(".dynsym") && !f.HasSection(".eh_frame") {
		return
	}
	m.file, m.Bias = f, f.Slide()
	m.Symbols = s.loadSymbols(f, m.Path, s.cfg.DebugDirs)
	key := fmt.Sprintf("%s in memory at %s", m.Path, m.Lo)
	if old := s.files[key]; old != nil {
		old.close()
	}
	s.files[key] = &fileEntry{file: f, symbols: m.Symbols}
	m.unwind = s.unwindModule(m, m.Symbols)
}
