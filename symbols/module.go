package symbols

import (
	"strings"

	"dbg/dwarf"
	"dbg/image"
)

// Options says how debug information is to be found.
type Options struct {
	DebugDirs []string // where separate debug files are; nil: image.DefaultDebugDirs
}

// Module is the symbols of one file.
type Module struct {
	file   *image.File
	opt    Options
	debug  *image.File // the separate debug file, nil if there is none
	alt    *image.File // what debug or file refers to by .gnu_debugaltlink
	origin string
	looked bool // debug, origin and data are known
	data   *dwarf.Data

	splits splitFiles // of data

	index unitIndex
	units map[*dwarf.Unit]*unit
	spans []funcSpan // room to scan a unit in
	elf   elfSymbols
	names *nameIndex // nil until built
	types map[die]*Type
	depth int // of nested type conversions
}

// die names a debugging information entry.
type die struct {
	unit *dwarf.Unit
	off  uint64
}

// Load makes the module of a file. Nothing is read yet.
func Load(f *image.File, opt Options) *Module {
	return &Module{file: f, opt: opt, units: map[*dwarf.Unit]*unit{}, types: map[die]*Type{}}
}

// File returns the file that the module was made of.
func (m *Module) File() *image.File { return m.file }

// DebugFile returns the separate debug file, nil if there is none.
func (m *Module) DebugFile() *image.File {
	m.dwarf()
	return m.debug
}

// HasDebugInfo reports whether there is DWARF for the file.
func (m *Module) HasDebugInfo() bool { return m.dwarf() != nil }

// Origin says where the debug information is from, or why there is none.
func (m *Module) Origin() string {
	if d := m.dwarf(); d != nil {
		if more := m.splits.String(); more != "" {
			return m.origin + "; " + more
		}
	}
	return m.origin
}

// Close closes the separate debug file. The image.File that the module was
// loaded from is its owner's to close.
func (m *Module) Close() error {
	m.looked, m.data = true, nil
	m.splits.close()
	m.alt.Close()
	err := m.debug.Close()
	m.debug, m.alt = nil, nil
	return err
}

// dwarf returns the debug information, nil if there is none.
func (m *Module) dwarf() *dwarf.Data {
	if m.looked {
		return m.data
	}
	m.looked = true
	f := m.file
	if f.HasDebugInfo() {
		m.origin = "the file has debug information"
	} else {
		debug, origin, err := f.DebugFile(m.opt.DebugDirs)
		m.debug, m.origin = debug, origin
		if err != nil {
			m.origin += ": " + err.Error()
		}
		if debug == nil || !debug.HasDebugInfo() {
			return nil
		}
		f = debug
	}
	m.data = dwarf.New(f, f.BigEndian())
	m.data.Split = func(u *dwarf.Unit) *dwarf.Unit { return m.split(f, u) }
	m.data.Alt = func() *dwarf.Data {
		m.alt, _, _ = f.AltFile(m.opt.DebugDirs)
		if m.alt == nil {
			return nil
		}
		return dwarf.New(m.alt, m.alt.BigEndian())
	}
	return m.data
}

// unit returns what this package knows of a unit; of a skeleton unit, what it
// knows of the full one.
func (m *Module) unit(du *dwarf.Unit) *unit {
	du = du.Full()
	u := m.units[du]
	if u == nil {
		root := du.Root()
		u = &unit{m: m, dw: du, lang: langOf(root.Language)}
		u.gcc = strings.HasPrefix(root.Producer, "GNU ")
		if strings.HasPrefix(root.Producer, "GNU AS") {
			u.lang, u.gcc = LangAsm, false
		}
		m.units[du] = u
	}
	return u
}

// langOf sorts the DW_LANG_ codes (DWARF 5, section 7.12, and the later
// additions of dwarfstd.org).
func langOf(code uint64) Lang {
	switch code {
	case 0x01, 0x02, 0x0c, 0x1d, 0x2c, 0x3e:
		return LangC
	case 0x04, 0x1a, 0x21, 0x2b, 0x3a:
		return LangCPlusPlus
	case 0x1c:
		return LangRust
	case 0x16:
		return LangGo
	case 0x8001, 0x31:
		return LangAsm
	}
	return LangUnknown
}
