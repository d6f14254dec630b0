package eval

import (
	"strings"

	"dbg/expr"
	"dbg/symbols/lang"
	"dbg/symbols/types"
)

// gather emits the bytes of a scalar that is in one of several pieces. A value that the evaluator
// has assembled from pieces has no address, even if a piece has one.
func (k *compiler) gather(o operand) operand {
	size, off := byteSize(o.v), o.off
	for i := range o.pieces {
		p := &o.pieces[i]
		if off >= p.Size {
			off -= p.Size
			continue
		}
		if off < 0 || size < 1 || size > p.Size-off {
			break
		}
		found := operand{at: inBits, v: Value{Type: o.v.Type, Name: o.v.Name, BitSize: o.v.BitSize, BitOffset: o.v.BitOffset}}
		switch {
		case p.Kind == expr.InMemory && size <= 8:
			if k.linear(p.Steps) != nil {
				break
			}
			k.emit(instruction{op: opLoad, n: off, size: uint8(size), bits: uint8(size * 8)})
			return found
		case p.Kind == expr.InRegister && off+size <= 8 && k.general(p.Reg):
			k.emit(instruction{op: opReg, reg: p.Reg})
			k.shiftDown(off)
			return found
		case p.Kind == expr.Implicit && p.Bytes == nil && off+size <= 8:
			if k.linear(p.Steps) != nil {
				break
			}
			k.shiftDown(off)
			return found
		case p.Kind == expr.Implicit && off+size <= int64(len(p.Bytes)):
			found.at, found.v.Bytes = known, p.Bytes[off:off+size]
			return found
		}
		break
	}
	o, _ = k.lose(o.v, o.v.Name+" is in no simple place")
	return o
}

func (k *compiler) shiftDown(bytes int64) {
	if bytes > 0 {
		k.emit(instruction{op: opShiftDown, n: bytes * 8})
	}
}

// sequenceFields returns the names of the members that hold the address and the number of the
// elements of a Go or Rust slice or string, as sequenceOf finds them.
func sequenceFields(t *types.Type) (ptr, count string, ok bool) {
	t = t.Strip()
	switch {
	case t.Lang == lang.Go && t.Name == "string":
		return "str", "len", true
	case t.Lang == lang.Go && (strings.HasPrefix(t.Name, "[]") || t.GoElem() != nil):
		return "array", "len", true
	case t.Lang == lang.Rust && (strings.HasPrefix(t.Name, "&") || strings.HasPrefix(t.Name, "*mut [") || strings.HasPrefix(t.Name, "*const [")):
		return "data_ptr", "length", true
	}
	return "", "", false
}

// sequenceElement compiles element i of a slice or a string. The structure's address is on the
// stack unless it is in pieces. The number of i is above it, unless i is known.
func (k *compiler) sequenceElement(o, i operand) (operand, error) {
	ptrName, countName, ok := sequenceFields(o.typ())
	ptr, count := directField(o.typ(), ptrName), directField(o.typ(), countName)
	if !ok || ptr == nil || count == nil || kindOf(ptr.Type) != types.Pointer || !isIntegral(count.Type) || o.at != inMemory && o.at != inPieces {
		return o, notCompiled("an element of a structure")
	}
	t := elemOf(ptr.Type)
	size := sizeOf(t)
	if size <= 0 {
		return o, notCompiled("an element without a size")
	}
	if i.at == known {
		if _, err := k.read(i); err != nil {
			return o, err
		}
	}
	number := func(f *types.Field) error {
		part, err := k.part(o, f.Offset, f.Type, f.Name)
		if err == nil {
			_, err = k.read(part)
		}
		return err
	}
	// The stack: structure, index.
	if o.at == inMemory {
		k.emit(instruction{op: opOver})
	}
	if err := number(count); err != nil {
		return o, err
	}
	k.emit(instruction{op: opCheck, n: (1 << 47) / size})
	if o.at == inMemory {
		k.emit(instruction{op: opSwap})
	}
	if err := number(ptr); err != nil {
		return o, err
	}
	k.emit(instruction{op: opSwap})
	k.emit(instruction{op: opIndex, n: size})
	return operand{at: inMemory, v: Value{Type: t}}, nil
}

// directField returns the member of a structure with a name, or nil if a program can't read it.
func directField(t *types.Type, name string) *types.Field {
	fields := t.Strip().Fields()
	for i := range fields {
		if f := &fields[i]; f.Name == name && !f.Static && f.BitSize == 0 && f.Place == nil && !f.Virtual {
			return f
		}
	}
	return nil
}
