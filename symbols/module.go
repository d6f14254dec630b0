package symbols

import (
	"strings"

	"dbg/dwarf"
	"dbg/image"
	"dbg/image/gopclntab"
)

// Options says how debug information is to be found.
type Options struct {
	DebugDirs []string // where separate debug files are; nil: image.DefaultDebugDirs
	// Fetcher gets files that are not here; nil: none are fetched. Arrived is called, from
	// another goroutine, when one that was on its way has come or can't be had:
	// Reload takes note of it.
	Fetcher image.Fetcher
	Arrived func()
	// IndexDir is the folder in which indexes of names are kept, see SaveIndex; "" is none.
	IndexDir string
	// Progress is told how far an index is while a question waits for it, from any goroutine; may be nil.
	Progress func(Progress)
	// Cancelled reports whether the question that is being answered is no longer wanted, from any goroutine; may be nil.
	// Work over all debug information then ends early, and its answer is worthless: see Forget.
	Cancelled func() bool
}

// Module is the symbols of one file.
type Module struct {
	file *image.File
	opt  Options
	sources
	data *dwarf.Data // nil if there is none

	splits splitFiles // of data

	index unitIndex
	units map[*dwarf.Unit]*unit
	spans []funcSpan // room to scan a unit in
	elf   *elfSymbols

	copied map[string]image.Addr // see Copied; nil until it is asked

	goFuncs *gopclntab.Table // see goTable
	goTried bool

	indexState
	types map[die]*Type
	// With asDeclared, structures that are only declared stay so: see Type.ElemAsDeclared. These types are kept apart.
	asDeclared bool
	declared   map[die]*Type
	goTypes    *goTypes
	depth      int // of nested type conversions
}

// die names a debugging information entry.
type die struct {
	unit *dwarf.Unit
	off  uint64
}

// Load makes the module of a file. Nothing is read yet.
func Load(f *image.File, opt Options) *Module {
	return &Module{file: f, opt: opt, elf: &elfSymbols{}, units: map[*dwarf.Unit]*unit{}, types: map[die]*Type{}}
}

// File returns the file that the module was made of.
func (m *Module) File() *image.File { return m.file }

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
