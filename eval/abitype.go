package eval

import (
	"dbg/abi"
	"dbg/symbols/lang"
	"dbg/symbols/types"
)

// ABIType converts a type to what calling conventions need of it. A nil t is void. A type that is
// not complete, or not understood, has a negative size: its place is unknown.
func ABIType(t *types.Type) *abi.Type {
	c := abiConverter{}
	return c.convert(t, 0)
}

var abiUnknown = &abi.Type{Kind: abi.Struct, Size: -1}

// abiConverter bounds the size of the tree.
type abiConverter struct{ nodes int }

func (c *abiConverter) convert(t *types.Type, depth int) *abi.Type {
	const most = 20_000
	if c.nodes++; depth > 32 || c.nodes > most {
		return abiUnknown
	}
	if t == nil {
		return &abi.Type{Kind: abi.Void}
	}
	t = t.Strip()
	size := sizeOf(t)
	out := &abi.Type{Size: size, Align: t.Align}
	switch t.Kind {
	case types.Void:
		return &abi.Type{Kind: abi.Void}
	case types.Bool, types.Int, types.Uint, types.Char, types.Enum, types.Pointer, types.Reference, types.RvalueReference:
		out.Kind = abi.Integer
	case types.Func:
		if t.Lang != lang.Go {
			return abiUnknown
		}
		out.Kind, out.Size = abi.Integer, 8 // the address of a closure
	case types.MemberPointer:
		// Itanium C++ ABI, section 2.3: a ptrdiff_t, or two for a member function.
		out.Kind = abi.Integer
		if size == 16 {
			word := &abi.Type{Kind: abi.Integer, Size: 8}
			out.Kind, out.Fields = abi.Struct, []abi.Field{{Type: word}, {Type: word, Offset: 8}}
		}
	case types.Float:
		f, ok := floatFormat(t, int(size))
		if !ok {
			return abiUnknown
		}
		out.Kind, out.X87 = abi.Float, f == formatX87
	case types.Complex:
		elem := types.New(types.Float, t.Name, size/2, true, nil)
		elem.Quad = t.Quad
		out.Kind, out.Elem = abi.Complex, c.convert(elem, depth+1)
	case types.Array:
		out.Kind, out.Count = abi.Array, t.Count
		if t.Vector() {
			out.Kind = abi.Vector
		}
		if t.Count < 0 {
			out.Count, out.Size = 0, max(size, 0) // a flexible array member takes no place
		}
		if out.Elem = c.convert(t.Elem(), depth+1); out.Elem.Size < 0 {
			out.Size = -1
		}
	case types.Struct, types.Union:
		c.aggregate(out, t, depth)
	default:
		return abiUnknown
	}
	return out
}

func (c *abiConverter) aggregate(out *abi.Type, t *types.Type, depth int) {
	out.Kind = abi.Struct
	if t.Kind == types.Union {
		out.Kind = abi.Union
	}
	out.ByReference = t.PassedByReference()
	fields := t.Fields()
	if v := t.Variants(); v != nil {
		out.Kind = abi.Variant
		if v.Discr != nil {
			fields = append(fields[:len(fields):len(fields)], *v.Discr)
		}
		for i := range v.All {
			fields = append(fields, v.All[i].Fields...)
		}
	}
	for i := range fields {
		f := &fields[i]
		switch {
		case f.Static:
			continue
		case f.Virtual || f.Place != nil || f.Type == nil:
			if !out.ByReference {
				out.Size = -1
			}
			continue
		case f.BitSize > 0:
			out.Fields = append(out.Fields, abi.Field{Type: c.convert(f.Type, depth+1), BitSize: f.BitSize, BitOffset: f.BitOffset})
			continue
		}
		ft := c.convert(f.Type, depth+1)
		if ft.Size < 0 && !out.ByReference {
			out.Size = -1
		}
		if f.Align > 0 {
			aligned := *ft
			aligned.Align = f.Align
			ft = &aligned
		}
		out.Fields = append(out.Fields, abi.Field{Type: ft, Offset: f.Offset})
	}
}
