package eval

import (
	"encoding/binary"

	"dbg/symbols/lang"
	"dbg/symbols/types"
	"dbg/target"
)

// isGoInterface reports whether a type is a Go interface: runtime.eface for interface types without
// methods, runtime.iface for the others.
func isGoInterface(t *types.Type) bool {
	t = t.Strip()
	return t.Kind == types.Struct && t.Lang == lang.Go && (t.Name == "runtime.eface" || t.Name == "runtime.iface")
}

// Dynamic returns the value in a Go interface. ok is false if it is unknown, or if v is not an
// interface.
func Dynamic(v Value, env Env) (held Value, ok bool) {
	if v.Type == nil || !isGoInterface(v.Type) {
		return Value{}, false
	}
	return dynamic(v, env)
}

// dynamic returns the value in a Go interface. ok is false if it is unknown: the interface is not
// completely available, or the debug information does not contain its type. A nil interface holds a
// value without a type.
//
// The layouts are those of package internal/abi (Type, ITab). They have been the same since Go 1.0,
// where they were in runtime._type.
func dynamic(v Value, env Env) (held Value, ok bool) {
	v = load(v, env)
	p := env.Arch().PtrSize
	if v.Avail != Available || len(v.Bytes) != 2*p || env.Arch().ByteOrder != binary.ByteOrder(binary.LittleEndian) {
		return Value{}, false
	}
	rtype, word := rawUint(v.Bytes[:p]), v.Bytes[p:]
	if rtype == 0 {
		return Value{}, rawUint(word) == 0
	}
	if v.Type.Strip().Name == "runtime.iface" {
		var b [8]byte
		if n, err := env.ReadMemory(target.Addr(rtype)+target.Addr(p), b[:p]); err != nil || n < p { // ITab.Type
			return Value{}, false
		}
		rtype = rawUint(b[:p])
	}
	t, kind := env.GoType(target.Addr(rtype))
	size := sizeOf(t)
	if t == nil || size < 0 {
		return Value{}, false
	}
	// The type in memory must agree with the debug information.
	b := make([]byte, 3*p)
	if n, err := env.ReadMemory(target.Addr(rtype), b); err != nil || n < len(b) {
		return Value{}, false
	}
	const goInterfaceKind = 20 // internal/abi.Interface: an interface never holds an interface
	const direct = 1 << 5      // in TFlag; in Kind before Go 1.26
	flags, ownKind := b[2*p+4], b[2*p+7]
	if rawUint(b[:p]) != uint64(size) || kind != 0 && ownKind&(direct-1) != kind || ownKind&(direct-1) == goInterfaceKind {
		return Value{}, false
	}
	held = Value{Type: t, fixed: "The value in an interface can't be assigned."}
	switch {
	case (flags|ownKind)&direct == 0:
		held.Addr, held.HasAddr = target.Addr(rawUint(word)), true
	case size != int64(p):
		return Value{}, false
	default:
		held.Bytes = word
	}
	return held, true
}

// goInterface writes error(*errors.errorString) 0xc000012250, or error nil. It returns false if the
// content is unknown.
func (p *printer) goInterface(v Value) bool {
	held, ok := dynamic(v, p.env)
	if !ok {
		return false
	}
	if held.Type == nil {
		p.str(v.Type.GoName() + " nil")
		return true
	}
	p.str(v.Type.GoName() + "(" + held.Type.GoName() + ") ")
	p.depth-- // the content is not nested in it
	p.value(held)
	p.depth++
	if kindOf(held.Type) == types.Pointer {
		p.goTarget(held)
	}
	return true
}
