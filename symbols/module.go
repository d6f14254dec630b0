package symbols

import (
	"strings"

	"dbg/dwarf"
	"dbg/image"
	"dbg/image/gopclntab"
	"dbg/symbols/entry"
	"dbg/symbols/lang"
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

	index  unitIndex
	units  map[*dwarf.Unit]*unit
	scopes entry.Scopes
	spans  []funcSpan // room to scan a unit in
	elf    *elfSymbols

	copied map[string]image.Addr // see Copied; nil until it is asked

	goFuncs *gopclntab.Table // see goTable
	goTried bool

	indexState
	types map[entry.Ref]*Type
	// With asDeclared, structures that are only declared stay so: see Type.ElemAsDeclared. These types are kept apart.
	asDeclared bool
	declared   map[entry.Ref]*Type
	goTypes    *goTypes
	depth      int // of nested type conversions
}

// Load makes the module of a file. Nothing is read yet.
func Load(f *image.File, opt Options) *Module {
	return &Module{file: f, opt: opt, elf: &elfSymbols{}, units: map[*dwarf.Unit]*unit{}, types: map[entry.Ref]*Type{}}
}

// File returns the file that the module was made of.
func (m *Module) File() *image.File { return m.file }

// unit returns what this package knows of a unit; of a skeleton unit, what it
// knows of the full one.
func (m *Module) unit(du *dwarf.Unit) *unit {
	du = du.Full()
	u := m.units[du]
	if u == nil {
		producer := du.Root().Producer
		u = &unit{m: m, dw: du, lang: lang.Of(du)}
		u.gcc = strings.HasPrefix(producer, "GNU ") && !strings.HasPrefix(producer, "GNU AS")
		m.units[du] = u
	}
	return u
}
