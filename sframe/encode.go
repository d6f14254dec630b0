package sframe

import (
	"encoding/binary"
	"fmt"

	"dbg/arch"
)

// Function is an FDE with its rows, for Encode. Offset and FREs of the FDE are not used.
type Function struct {
	FDE
	Rows []FRE
}

// encoder builds a section.
type encoder struct {
	h     *Header
	order binary.AppendByteOrder
	fdes  []byte
	fres  []byte
}

// Encode writes a section at an address. The functions are written in the given order. FDEs and FREs of
// the header are counted anew. It returns an error if the version can't express a value. The data words
// are written as they are.
func Encode(h Header, addr uint64, functions []Function) ([]byte, error) {
	if h.Version < 1 || h.Version > 3 || !h.ABI.valid() {
		return nil, fmt.Errorf("can't encode version %d for %v", h.Version, h.ABI)
	}
	x := encoder{h: &h, order: binary.LittleEndian}
	if h.ABI.bigEndian() {
		x.order = binary.BigEndian
	}
	rows := 0
	for i := range functions {
		rows += len(functions[i].Rows)
		if err := x.function(addr, &functions[i]); err != nil {
			return nil, fmt.Errorf("function at 0x%x: %w", functions[i].Lo, err)
		}
	}
	b := x.order.AppendUint16(nil, magic)
	b = append(b, h.Version, h.Flags, uint8(h.ABI), uint8(h.FixedFP), uint8(h.FixedRA), 0)
	b = x.order.AppendUint32(b, uint32(len(functions)))
	b = x.order.AppendUint32(b, uint32(rows))
	b = x.order.AppendUint32(b, uint32(len(x.fres)))
	b = x.order.AppendUint32(b, 0)
	b = x.order.AppendUint32(b, uint32(len(x.fdes)))
	return append(append(b, x.fdes...), x.fres...), nil
}

// function appends an FDE and its rows.
func (x *encoder) function(addr uint64, fn *Function) error {
	size, start := fn.Hi-fn.Lo, fn.Lo-addr
	if x.h.Flags&FlagPCRel != 0 {
		start -= headerSize + uint64(len(x.fdes))
	}
	limit := uint64(1)<<32 - 1
	rows := limit
	if x.h.Version >= 3 {
		rows = 1<<16 - 1
	}
	switch {
	case fn.Hi < fn.Lo || size > limit:
		return fmt.Errorf("the size of 0x%x bytes is too large", size)
	case x.h.Version < 3 && int64(start) != int64(int32(start)):
		return fmt.Errorf("the address is too far from the section")
	case uint64(len(fn.Rows)) > rows || uint64(len(x.fres)) > limit:
		return fmt.Errorf("there are too many rows")
	case fn.Masked && x.h.Version > 1 && (fn.Repeat == 0 || fn.Repeat > 255):
		return fmt.Errorf("a block of %d bytes can't repeat", fn.Repeat)
	case (fn.Flexible || fn.Signal) && x.h.Version < 3:
		return fmt.Errorf("version %d has neither flexible rows nor signal frames", x.h.Version)
	}
	info := fn.FREType
	for _, bit := range [...]struct {
		is  bool
		bit uint8
	}{{fn.Masked, infoMask}, {fn.KeyB, infoKeyB}, {fn.Signal, infoSignal}} {
		if bit.is {
			info |= bit.bit
		}
	}
	repeat := uint8(0)
	if fn.Masked {
		repeat = uint8(fn.Repeat)
	}
	x.head(fn, start, uint32(size), info, repeat)
	for i := range fn.Rows {
		if err := x.row(fn.FREType, &fn.Rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// head appends an FDE, or its index and its attribute.
func (x *encoder) head(fn *Function, start uint64, size uint32, info, repeat uint8) {
	n, at := len(fn.Rows), uint32(len(x.fres))
	if x.h.Version >= 3 {
		x.fdes = x.order.AppendUint64(x.fdes, start)
		x.fdes = x.order.AppendUint32(x.fdes, size)
		x.fdes = x.order.AppendUint32(x.fdes, at)
		x.fres = x.order.AppendUint16(x.fres, uint16(n))
		kind := uint8(0)
		if fn.Flexible {
			kind = 1
		}
		x.fres = append(x.fres, info, kind, repeat)
		return
	}
	x.fdes = x.order.AppendUint32(x.fdes, uint32(start))
	x.fdes = x.order.AppendUint32(x.fdes, size)
	x.fdes = x.order.AppendUint32(x.fdes, at)
	x.fdes = x.order.AppendUint32(x.fdes, uint32(n))
	x.fdes = append(x.fdes, info)
	if x.h.Version == 2 {
		x.fdes = append(x.fdes, repeat, 0, 0)
	}
}

// row appends a row.
func (x *encoder) row(kind uint8, f *FRE) error {
	size := map[uint8]uint8{1: 0, 2: 1, 4: 2}
	code, ok := size[f.Size]
	if !ok || f.Count > maxWords || kind > 2 || uint64(f.Start) >= 1<<(8<<kind) {
		return fmt.Errorf("the row at 0x%x with %d data words of %d bytes has no encoding", f.Start, f.Count, f.Size)
	}
	x.fres = x.number(x.fres, uint8(1)<<kind, f.Start)
	info := uint8(f.Count)<<1 | code<<5
	if f.SP {
		info |= freSP
	}
	if f.Mangled {
		info |= freMangled
	}
	x.fres = append(x.fres, info)
	for _, w := range f.Words[:f.Count] {
		x.fres = x.number(x.fres, f.Size, uint32(w))
	}
	return nil
}

func (x *encoder) number(b []byte, size uint8, v uint32) []byte {
	switch size {
	case 1:
		return append(b, byte(v))
	case 2:
		return x.order.AppendUint16(b, uint16(v))
	}
	return x.order.AppendUint32(b, v)
}

// SetRules sets the data words of a row to those of rules, in the smallest size, and returns whether they
// can be expressed. Fixed rules have no words: they must be those of the header.
func (h *Header) SetRules(f *FRE, r *Rules, flexible bool) bool {
	f.Count = 0
	put := func(words ...int64) bool {
		for _, w := range words {
			if w != int64(int32(w)) || f.Count == maxWords {
				return false
			}
			f.Words[f.Count] = int32(w)
			f.Count++
		}
		return true
	}
	ok := false
	if flexible {
		ok = h.setFlexible(r, put)
	} else {
		ok = h.setFixed(f, r, put)
	}
	f.Size = 1
	for i, w := range f.Words[:f.Count] {
		signed := !flexible || f.Count > 1 && !isControl(f.Words[:f.Count], i)
		for f.Size < 4 && !fits(w, f.Size, signed) {
			f.Size *= 2
		}
	}
	return ok
}

// isControl reports whether word i of a flexible row is a control word.
func isControl(words []int32, i int) bool {
	for at := 0; at <= i; at++ {
		if at == i {
			return true
		}
		if words[at] != 0 {
			at++ // its offset
		}
	}
	return false
}

func fits(w int32, size uint8, isSigned bool) bool {
	if isSigned {
		return signed(uint64(uint32(w)), size) == int64(w)
	}
	return uint32(w) < 1<<(8*size)
}

// setFixed puts the words of a default FDE.
func (h *Header) setFixed(f *FRE, r *Rules, put func(...int64) bool) bool {
	regs := registersOf[h.ABI]
	f.SP = r.CFA.Reg == regs.sp
	cfa, ok := h.scaled(r.CFA.Offset)
	if !ok || !r.CFA.Set || !r.CFA.ByReg || r.CFA.Deref || !f.SP && r.CFA.Reg != regs.fp || !put(cfa) {
		return false
	}
	for i, rule := range []*Rule{&r.RA, &r.FP} {
		switch {
		case rule.Fixed:
		case rule.Set && !rule.ByReg && rule.Deref && (i == 1 || rule.Offset != 0) && (h.ABI != S390X || rule.Offset%2 == 0):
			if !put(rule.Offset) {
				return false
			}
		case rule.Set && (h.ABI != S390X || h.Version != 2 || !rule.ByReg || rule.Deref || rule.Offset != 0):
			return false
		case rule.Set:
			if !put(int64(rule.Reg)<<1 | 1) {
				return false
			}
		case i == 0 && r.FP.Set && !r.FP.Fixed: // a word before that of the frame pointer
			if !put(0) {
				return false
			}
		}
	}
	return true
}

// scaled returns the word for an offset of the CFA.
func (h *Header) scaled(offset int64) (int64, bool) {
	if h.ABI != S390X {
		return offset, true
	}
	offset -= s390xBias
	return offset / s390xScale, offset%s390xScale == 0
}

// setFlexible puts the words of a flexible FDE.
func (h *Header) setFlexible(r *Rules, put func(...int64) bool) bool {
	if h.Version < 3 || !r.CFA.Set || !r.CFA.ByReg {
		return false
	}
	more := []*Rule{&r.CFA, &r.RA, &r.FP}
	for len(more) > 1 && (!more[len(more)-1].Set || more[len(more)-1].Fixed) && !more[len(more)-1].Pad {
		more = more[:len(more)-1]
	}
	for i, rule := range more {
		offset, ok := rule.Offset, true
		if i == 0 {
			offset, ok = h.scaled(offset)
		}
		if !ok {
			return false
		}
		if !rule.Set || rule.Fixed {
			if !put(0) {
				return false
			}
			continue
		}
		control := int64(0)
		if rule.ByReg {
			if rule.Reg >= arch.MaxRegs {
				return false
			}
			control = int64(rule.Reg)<<controlShift | controlReg
		}
		if rule.Deref {
			control |= controlDeref
		}
		if control == 0 || !put(control, offset) {
			return false
		}
	}
	return true
}
