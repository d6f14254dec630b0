package session

import (
	"bytes"
	"fmt"

	"dbg/image"
	"dbg/target"
)

// FileSections lists the sections of a file that are in memory.
type FileSections struct {
	Path     string
	Type     string // "elf64-x86-64"
	Entry    target.Addr
	Sections []LoadedSection
}

// LoadedSection is a section at its address in the process; before the program runs, at that in the
// file.
type LoadedSection struct {
	Name     string
	Lo, Hi   target.Addr
	ReadOnly bool
	Zero     bool // not in the file: .bss
}

// FileSections lists the sections of the program, then of all other files.
func (s *Session) FileSections() ([]FileSections, error) {
	return ask(s, func() ([]FileSections, error) {
		if s.tgt == nil {
			if s.exeFile == nil {
				return nil, nil
			}
			f := s.exeFile.File()
			return []FileSections{sectionsOf(f.Path(), f, 0)}, nil
		}
		exe := s.exeModule()
		var out []FileSections
		for _, m := range s.modules.all {
			if m.file == nil || m.file.Format() != image.ELF {
				continue
			}
			list := sectionsOf(m.Path, m.file, m.Bias)
			if m == exe {
				out = append([]FileSections{list}, out...)
			} else {
				out = append(out, list)
			}
		}
		return out, nil
	})
}

func sectionsOf(path string, f *image.File, bias uint64) FileSections {
	at := func(a image.Addr) target.Addr { return target.Addr(uint64(a) + bias) }
	out := FileSections{Path: path, Type: fileType(f), Entry: at(f.Entry())}
	for _, s := range f.Sections() {
		if s.Loaded && s.Size > 0 {
			out.Sections = append(out.Sections, LoadedSection{Name: s.Name, Lo: at(s.Addr), Hi: at(s.Addr) + target.Addr(s.Size), ReadOnly: !s.Writable, Zero: s.NoBits})
		}
	}
	return out
}

// fileType returns the name that the GNU tools give to the format of a file.
func fileType(f *image.File) string {
	bits, end := 32, "little"
	if f.Is64() {
		bits = 64
	}
	if f.BigEndian() {
		end = "big"
	}
	name := f.Machine()
	if a := f.Arch(); a != nil {
		switch a.Name {
		case "amd64":
			return fmt.Sprintf("elf%d-x86-64", bits)
		case "386":
			return "elf32-i386"
		}
		name = end + a.Name
	}
	return fmt.Sprintf("elf%d-%s", bits, name)
}

// SectionMatch is the result of the comparison of a section.
type SectionMatch struct {
	LoadedSection
	Matched bool
}

// CompareSections compares the sections of the program's file with memory: all of them, those
// that are not writable, or the one of that name. It calls found for each. Its addresses are
// those in the process.
func (s *Session) CompareSections(name string, readOnly bool, found func(SectionMatch)) error {
	return s.try(func() error {
		if s.tgt == nil {
			return target.ErrNotRunning
		}
		m := s.exeModule()
		if m == nil || m.file == nil {
			return fmt.Errorf("the program's file is not known")
		}
		any := false
		for _, sec := range sectionsOf(m.Path, m.file, m.Bias).Sections {
			if sec.Zero || readOnly && !sec.ReadOnly || name != "" && sec.Name != name {
				continue
			}
			any = true
			ok, err := s.sameBytes(m, &sec)
			if err != nil {
				return err
			}
			found(SectionMatch{sec, ok})
		}
		if !any && name != "" {
			return fmt.Errorf("No loaded section named '%s'.", name) //lint:ignore ST1005 gdb's words
		}
		return nil
	})
}

// sameBytes compares a section in memory with the file, in pieces.
func (s *Session) sameBytes(m *Module, sec *LoadedSection) (bool, error) {
	const piece = 1 << 20
	mem, file := make([]byte, piece), make([]byte, piece)
	for at := sec.Lo; at < sec.Hi; at += piece {
		if s.cutShort() {
			return false, s.ctx.Err()
		}
		n := int(min(piece, sec.Hi-at))
		if got, _ := m.file.ReadAt(m.fileAddr(at), file[:n]); got < n {
			return false, fmt.Errorf("%s: section %s has no bytes at %s", m.Path, sec.Name, at)
		}
		if _, err := s.readMemory(at, mem[:n]); err != nil {
			return false, err
		}
		if !bytes.Equal(mem[:n], file[:n]) {
			return false, nil
		}
	}
	return true, nil
}
