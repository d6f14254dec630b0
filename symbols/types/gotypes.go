package types

import (
	"dbg/dwarf"
	"dbg/image"
	"dbg/symbols/entry"
	"dbg/symbols/lang"
)

// Attributes of Go's compiler (cmd/internal/dwarf, DW_AT_go_*).
const (
	attrGoKey         dwarf.Attr = 0x2901
	attrGoElem        dwarf.Attr = 0x2902
	attrGoRuntimeType dwarf.Attr = 0x2904
	maxGoTypes                   = 1 << 20
)

// goType is a type with a descriptor at run time.
type goType struct {
	entry.Ref
	kind uint8
}

// goTypes are a file's types by their DW_AT_go_runtime_type.
type goTypes struct {
	all  map[uint64]goType
	base uint64 // what is added to have an address: 0, or where "runtime.types" is
}

// GoType returns the type whose descriptor (internal/abi.Type) is at an address of the file, and
// its kind (internal/abi.Kind; 0 if it is not known); nil if the debug information has no such
// type.
func (r *Reader) GoType(a image.Addr) (t *Type, kind uint8) {
	g := r.runtimeTypes()
	if uint64(a) < g.base {
		return nil, 0
	}
	at, ok := g.all[uint64(a)-g.base]
	if !ok || uint64(a) == g.base {
		return nil, 0
	}
	return r.At(at.Ref), at.kind
}

// runtimeTypes goes over the types of all units of Go, once.
func (r *Reader) runtimeTypes() *goTypes {
	if r.goTypes != nil {
		return r.goTypes
	}
	g := &goTypes{all: map[uint64]goType{}}
	r.goTypes = g
	data := r.finder.DebugInfo()
	if data == nil {
		return g
	}
	units, err := data.Units()
	if err != nil {
		return g
	}
	least := ^uint64(0)
	for _, du := range units {
		u := du.Full()
		if r.scopes.Lang(u) != lang.Go {
			continue
		}
		c, err := u.Cursor(u.First)
		if err != nil || !c.Next() || !c.Children() {
			continue
		}
		for c.Next() && len(g.all) < maxGoTypes {
			switch c.Tag() {
			case dwarf.TagSubprogram, dwarf.TagVariable, dwarf.TagConstant:
				c.Skip()
				continue
			}
			var v, k dwarf.Value
			if !c.Value(dwarf.AttrGoKind, &k) {
				k.Num = 0 // of unsafe.Pointer
			}
			if c.Value(attrGoRuntimeType, &v) && v.Num != 0 && k.Num < 32 {
				if _, have := g.all[v.Num]; !have {
					g.all[v.Num] = goType{entry.Ref{Unit: u, Off: c.Offset()}, uint8(k.Num)}
					least = min(least, v.Num)
				}
			}
			c.Skip()
		}
		u.Release()
	}
	// Addresses, or, as Go's own linker writes them, distances from the first type: then some are
	// less than that one's address.
	if first, ok := r.finder.OwnLinkageAddr("runtime.types"); ok && least < uint64(first) {
		g.base = uint64(first)
	}
	return g
}

// GoName is the type's name as Go writes it: "[3]int".
func (t *Type) GoName() string {
	switch {
	case t.Kind == Array && t.Lang == lang.Go && t.goName != "":
		return t.goName
	case t.Name != "":
		return t.Name
	}
	return t.String()
}

// GoKey returns the type of the keys of a map of Go; nil if the debug information does not contain
// it.
func (t *Type) GoKey() *Type { return called(t.goKey) }

// GoElem returns the type of the elements of a map, a slice or a channel of Go; nil if the debug
// information does not contain it.
func (t *Type) GoElem() *Type { return called(t.goElem) }

func called(f func() *Type) *Type {
	if f == nil {
		return nil
	}
	return f()
}

// goParts notes where the key and the element of a type of Go are.
func (r *Reader) goParts(t *Type, e *dwarf.Entry) {
	part := func(a dwarf.Attr) func() *Type {
		if !e.Has(a) {
			return nil
		}
		return func() *Type {
			if u, off, ok := e.RefOffset(a); ok {
				return r.At(entry.Ref{Unit: u, Off: off})
			}
			return nil
		}
	}
	t.goKey, t.goElem = part(attrGoKey), part(attrGoElem)
}

// maxGoConstants limits the constants of a file that are kept.
const maxGoConstants = 1 << 20

// goConstants goes over the constants of all units of Go, once. It returns those of each named type, in
// the order of the file.
func (r *Reader) goConstants() map[entry.Ref][]Enumerator {
	if r.constants != nil {
		return r.constants
	}
	r.constants = map[entry.Ref][]Enumerator{}
	data := r.finder.DebugInfo()
	if data == nil {
		return r.constants
	}
	units, err := data.Units()
	if err != nil {
		return r.constants
	}
	n := 0
	for _, du := range units {
		u := du.Full()
		if r.scopes.Lang(u) != lang.Go {
			continue
		}
		c, err := u.Cursor(u.First)
		if err != nil || !c.Next() || !c.Children() {
			continue
		}
		for c.Next() && n < maxGoConstants {
			var e dwarf.Entry
			if c.Tag() == dwarf.TagConstant && c.Entry(&e) == nil {
				unit, off, ok := e.RefOffset(dwarf.AttrType)
				value, ok2 := e.Uint(dwarf.AttrConstValue)
				if name, ok3 := e.String(dwarf.AttrName); ok && ok2 && ok3 {
					at := entry.Ref{Unit: unit, Off: off}
					r.constants[at] = append(r.constants[at], Enumerator{Name: name, Value: int64(value)})
					n++
				}
			}
			c.Skip()
		}
		u.Release()
	}
	return r.constants
}
