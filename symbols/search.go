package symbols

import (
	"cmp"
	"encoding/binary"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dbg/dwarf"
	"dbg/expr"
	"dbg/image"
	"dbg/symbols/entry"
	"dbg/symbols/lang"
	"dbg/symbols/names"
	"dbg/symbols/spelling"
	"dbg/symbols/types"
)

// SearchKind is the kind of names that a search finds.
type SearchKind uint8

const (
	SearchFunctions SearchKind = iota
	SearchVariables
	SearchTypes
)

// Found is a function, variable or type that a search has found.
type Found struct {
	Name string // qualified
	// Text is the declaration in the language of the unit, as gdb lists it: "static int counter;",
	// "struct node;", or "int" for a type without a declaration.
	Text string
	File string // of the declaration; "" if it is unknown
	Line int
	// Symbol is set for a symbol without debug information. It has an address and no File.
	Symbol bool
	Addr   image.Addr // if Symbol is set
}

// Search returns the functions, variables or types whose qualified name matches an expression. Those
// with debug information come first, sorted by file, name and line; then the symbols, sorted by
// address. Search stops after the given number of results. more is then true.
func (m *Module) Search(kind SearchKind, re *regexp.Regexp, most int) (list []Found, more bool) {
	seen := map[Found]bool{}
	add := func(f Found) {
		if len(list) >= most {
			more = true
		} else if !seen[f] {
			seen[f] = true
			list = append(list, f)
		}
	}
	if m.dwarf() != nil {
		m.searchIndex(kind, re, add, &more)
	}
	slices.SortStableFunc(list, func(a, b Found) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Line, b.Line))
	})
	if kind != SearchTypes {
		n := len(list)
		m.searchSymbols(kind, re, add, &more)
		slices.SortStableFunc(list[n:], func(a, b Found) int { return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Name, b.Name)) })
	}
	return list, more
}

// searchIndex calls add for the entries of the index that match. It stops when full is set.
func (m *Module) searchIndex(kind SearchKind, re *regexp.Regexp, add func(Found), full *bool) {
	want := map[SearchKind]names.Kind{SearchFunctions: names.Function, SearchVariables: names.Variable, SearchTypes: names.Type}[kind]
	m.names.Index().Each(want, func(i int, d entry.Ref) bool {
		if i%64 == 0 && m.cancelled() {
			return false
		}
		e, err := d.Read()
		if err != nil {
			return true
		}
		name := m.scopes.Qualified(e)
		if name == "" || !re.MatchString(name) {
			return true
		}
		f := Found{Name: name}
		f.File, f.Line = entry.Declaration(e)
		f.Text = m.declarationText(kind, e, name)
		add(f)
		return !*full
	})
}

// declarationText returns the declaration of a function, variable or type. See Found.Text.
func (m *Module) declarationText(kind SearchKind, e *dwarf.Entry, name string) string {
	static := ""
	if o := entry.Inherited(e, dwarf.AttrExternal); kind != SearchTypes && (o == nil || !o.Flag(dwarf.AttrExternal)) {
		static = "static "
	}
	switch kind {
	case SearchFunctions:
		if t := m.types.At(entry.Ref{Unit: e.Unit, Off: e.Offset}); t != nil && t.Kind == types.Func {
			return static + t.Declare(name) + ";"
		}
		return static + name + ";"
	case SearchVariables:
		o := entry.Inherited(e, dwarf.AttrType)
		if o == nil {
			return static + name + ";"
		}
		return static + m.types.Of(o).Declare(name) + ";"
	}
	t := m.types.At(entry.Ref{Unit: e.Unit, Off: e.Offset})
	if t == nil {
		return name
	}
	switch {
	case t.Kind == types.Typedef && t.Lang != lang.Go && t.Lang != lang.Rust:
		return "typedef " + t.Elem().Declare(name) + ";"
	case e.Tag == dwarf.TagBaseType || e.Tag == dwarf.TagUnspecifiedType:
		return t.String()
	}
	return t.String() + ";"
}

// searchSymbols calls add for the symbols that match and that no debug information describes. It
// stops when full is set.
func (m *Module) searchSymbols(kind SearchKind, re *regexp.Regexp, add func(Found), full *bool) {
	t := m.symbols().Symbols()
	for i := range t.Len() {
		s, ok := t.Symbol(i)
		if !ok || s.Section < 0 || s.Name == "" || s.Kind == image.TLS || m.symbols().IsCode(s.Addr) != (kind == SearchFunctions) || s.Addr == 0 {
			continue
		}
		name := spelling.WithoutVersion(s.Name)
		if spelling.Mangled(name) {
			name = spelling.Demangle(name)
		}
		if strings.HasPrefix(name, "$") || !re.MatchString(name) {
			continue
		}
		if kind == SearchFunctions {
			if fn := m.functionAt(s.Addr); fn != nil {
				continue
			}
		} else if len(m.Global(name)) > 0 {
			continue
		}
		if add(Found{Name: name, Text: name, Addr: s.Addr, Symbol: true}); *full {
			return
		}
	}
}

// Where describes, in words, the place of a variable at an address: "static storage at address
// 0x4030", "optimized out", or the operations of its DWARF expression.
func (v *Variable) Where(at image.Addr) string {
	i := v.impl
	if i == nil {
		return "not known"
	}
	o := entry.Inherited(i.e, dwarf.AttrLocation)
	if o == nil {
		if entry.Inherited(i.e, dwarf.AttrConstValue) != nil {
			return "constant"
		}
		return "optimized out"
	}
	loc := o.Find(dwarf.AttrLocation)
	code, err := o.Unit.Location(loc, uint64(at))
	if err != nil {
		return err.Error()
	}
	if len(code) == 0 {
		if o.Unit.IsList(loc) {
			return "not there at this address"
		}
		return "optimized out"
	}
	const opAddr = 0x03
	if size := o.Unit.AddrSize; code[0] == opAddr && len(code) == 1+size && size == 8 && !o.Unit.Data.BigEndian() {
		return "static storage at address 0x" + strconv.FormatUint(binary.LittleEndian.Uint64(code[1:]), 16)
	}
	return expr.Dump(code, i.m.file.Arch())
}
