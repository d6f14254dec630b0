package eval

import (
	"fmt"
	"strconv"

	"dbg/arch"
	"dbg/symbols/types"
	"dbg/target"
)

// memberPointer writes a C++ pointer to member (Itanium C++ ABI, section 2.3): &C::field, &virtual
// C::f(int), or the type and the function's address.
func (p *printer) memberPointer(v Value, t *types.Type) {
	class := t.Container()
	if kindOf(t.Elem()) != types.Func {
		off := int64(integerOf(v))
		if n := sizeOf(t); n > 0 && n < 8 {
			off = off << (64 - 8*n) >> (64 - 8*n)
		}
		if off == -1 {
			p.str("NULL")
		} else if name := memberAtOffset(class, off, 0); name != "" {
			p.str("&" + name)
		} else {
			p.str(strconv.FormatInt(off, 10))
		}
		return
	}
	if len(v.Bytes) != 16 {
		p.str("<unsupported type " + TypeName(v) + ">")
		return
	}
	ptr, adj := rawUint(v.Bytes[:8]), int64(rawUint(v.Bytes[8:]))
	virtual := ptr&1 != 0
	if p.env.Arch() == arch.ARM64 { // then the flag is in the adjustment
		virtual = adj&1 != 0
		adj >>= 1
	} else if virtual {
		ptr--
	}
	switch {
	case virtual:
		if name := virtualMethod(class, ptr/uint64(p.env.Arch().PtrSize), adj, 0); name != "" {
			p.str("&virtual " + name)
			return
		}
		p.str(fmt.Sprintf("&virtual table offset %d", ptr))
	case ptr == 0:
		p.str("NULL")
	default:
		if p.depth > 1 || p.opt.Inner {
			p.str("(" + TypeName(v) + ") ")
		}
		p.address(target.Addr(ptr))
	}
	if adj != 0 {
		p.str(fmt.Sprintf(", this adjustment %d", adj))
	}
}

// memberAtOffset returns the name of the member at an offset: in the class itself or in a base
// class.
func memberAtOffset(class *types.Type, off int64, depth int) string {
	if class == nil || depth > 20 {
		return ""
	}
	c := class.Strip()
	for _, f := range c.Fields() {
		if !f.Base && !f.Static && f.Place == nil && f.BitSize == 0 && f.Offset == off && f.Name != "" {
			return c.Name + "::" + f.Name
		}
	}
	for _, f := range c.Fields() {
		if f.Base && !f.Virtual && off >= f.Offset {
			if name := memberAtOffset(f.Type, off-f.Offset, depth+1); name != "" {
				return name
			}
		}
	}
	return ""
}

// virtualMethod returns the name of a method in the virtual function table of a part of a class,
// the one adj bytes from its start: the class itself or a base class.
func virtualMethod(class *types.Type, index uint64, adj int64, depth int) string {
	if class == nil || depth > 20 {
		return ""
	}
	c := class.Strip()
	if adj == 0 {
		if name := c.VirtualMethod(index); name != "" {
			return name
		}
	}
	for _, f := range c.Fields() {
		if f.Base && !f.Virtual && adj >= f.Offset && adj-f.Offset < max(sizeOf(f.Type), 1) {
			if name := virtualMethod(f.Type, index, adj-f.Offset, depth+1); name != "" {
				return name
			}
		}
	}
	return ""
}
