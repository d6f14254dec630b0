package unwindtable

import (
	"encoding/binary"
	"fmt"
	"strings"

	"dbg/arch"
	"dbg/cfi"
	"dbg/cfi/lsda"
	"dbg/image"
)

// exceptionsOf notes what an FDE says of exceptions.
func (p *printer) exceptionsOf(s *source, e *cfi.Entry, fn *function) {
	if s.relocs != nil {
		return // the addresses are not there yet
	}
	if c := &e.FDE.CIE; c.HasPersonality && c.Personality != 0 {
		fn.personality = p.f.routine(c.Personality, c.Indirect)
	}
	if e.FDE.HasLSDA {
		fn.lsda = e.FDE.LSDA
	}
}

// routine returns the address and the name of a personality routine.
func (f *file) routine(addr uint64, indirect bool) string {
	if name := f.typeName(addr, indirect); name != "" {
		return fmt.Sprintf("0x%x %s", addr, name)
	}
	return fmt.Sprintf("0x%x", addr)
}

// sites decodes the language-specific data of a function.
func (f *file) sites(fn *function) (*lsda.Table, error) {
	return lsda.Read(&lsda.Config{Func: fn.lo, PtrSize: f.arch.PtrSize, Big: f.BigEndian(), ARM: f.arch == arch.ARM,
		Read: func(a uint64, n int) []byte { return f.BytesAt(image.Addr(a), n) }}, fn.lsda)
}

// hasSites reports whether the function's language-specific data have the format of package lsda.
func (fn *function) hasSites() bool {
	return fn.lsda != 0 && !fn.otherData && !lsda.IsSJLJ(fn.personality)
}

// typeName returns the name of a type or a routine from the symbol for its information, or for the pointer
// to it; "" if there is none.
func (f *file) typeName(addr uint64, indirect bool) string {
	if name, ok := f.dataNames()[addr]; ok {
		return name
	}
	if !indirect {
		return ""
	}
	b := f.BytesAt(image.Addr(addr), f.arch.PtrSize)
	if len(b) < f.arch.PtrSize {
		return ""
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if f.BigEndian() {
		order = binary.BigEndian
	}
	to := uint64(0)
	if len(b) == 8 {
		to = order.Uint64(b)
	} else {
		to = uint64(order.Uint32(b))
	}
	return f.dataNames()[to]
}

// dataNames has the names of type information and personality routines by address, and of pointers to
// them: compilers call these DW.ref.NAME, and the dynamic linker sets them.
func (f *file) dataNames() map[uint64]string {
	if f.typeNames != nil {
		return f.typeNames
	}
	f.typeNames = map[uint64]string{}
	add := func(at image.Addr, name string) {
		name, _, _ = strings.Cut(strings.TrimPrefix(name, "DW.ref."), "@")
		if at != 0 && (strings.Contains(name, "_ZTI") || strings.Contains(name, "personality")) {
			f.typeNames[uint64(at)&^f.thumbBit()] = strings.TrimPrefix(demangled(name), "typeinfo for ")
		}
	}
	f.SymbolicPointers(func(at image.Addr, name []byte) bool {
		add(at, string(name))
		return true
	})
	for _, s := range f.Symbols() {
		add(s.Addr, s.Name)
	}
	return f.typeNames
}

// thumbBit is the bit of an address that is no part of it.
func (f *file) thumbBit() uint64 {
	if f.arch == arch.ARM {
		return 1
	}
	return 0
}

// action returns an action in words: "catch std::exception", "catch ...", "cleanup".
func (f *file) action(a *lsda.Action) string {
	var types []string
	for _, t := range a.Types {
		types = append(types, f.typeText(t))
	}
	switch a.Kind {
	case lsda.Catch:
		return "catch " + types[0]
	case lsda.CatchAll:
		return "catch ..."
	case lsda.Only:
		return "only throw(" + strings.Join(types, ", ") + ")"
	}
	return "cleanup"
}

func (f *file) typeText(t lsda.Type) string {
	switch name := f.typeName(t.Addr, t.Indirect); {
	case name != "":
		return name
	case t.Indirect:
		return fmt.Sprintf("the type whose address is at 0x%x", t.Addr)
	}
	return fmt.Sprintf("the type at 0x%x", t.Addr)
}
