package sframe

import (
	"iter"
	"math/bits"
)

// Bits of the info bytes (section 2.3.3).
const (
	infoFREType = 0x0f
	infoMask    = 0x10
	infoKeyB    = 0x20
	infoUnused  = 0x40
	infoSignal  = 0x80 // from version 3 on

	info2Type = 0x1f
)

// maxMasks limits the rows of an FDE with PC type MASK in version 1. Linkers write two.
const maxMasks = 64

// FDE is a function descriptor entry: a function, and the encoding of its rows.
type FDE struct {
	Offset int    // of the entry in the section
	Lo, Hi uint64 // the function's addresses
	FREs   int    // number of rows

	FREType  uint8  // the size of a row's start address is 1<<FREType bytes (section 2.3.3.3)
	Masked   bool   // PC type MASK: the rows repeat
	Repeat   uint32 // size of the block that repeats, if Masked
	Flexible bool   // FDE type FLEX: rows have control words
	KeyB     bool   // return addresses are signed with key B (AArch64)
	Signal   bool   // the function is a signal trampoline

	fre int // offset of the first row in fres
}

// start returns the address of the function of entry i.
func (t *Table) start(i int) uint64 {
	at := t.fdes + i*fdeSizes[t.Version]
	n := uint64(int64(int32(t.order.Uint32(t.Data[at:]))))
	if t.Version >= 3 {
		n = t.order.Uint64(t.Data[at:])
	}
	if t.Flags&FlagPCRel != 0 {
		n += uint64(at)
	}
	return t.Addr + n
}

// size returns the size of the function of entry i.
func (t *Table) size(i int) uint64 {
	at := t.fdes + i*fdeSizes[t.Version] + 4
	if t.Version >= 3 {
		at += 4
	}
	return uint64(t.order.Uint32(t.Data[at:]))
}

// fde decodes entry i. In case of an error, Lo, Hi and Offset are valid.
func (t *Table) fde(i int, e *FDE) error {
	at := t.fdes + i*fdeSizes[t.Version]
	*e = FDE{Offset: at, Lo: t.start(i)}
	e.Hi = e.Lo + t.size(i)
	if e.Hi < e.Lo {
		e.Hi = e.Lo
		return defect(at, "the function at 0x%x ends outside of the address space", e.Lo)
	}
	if t.Version >= 3 {
		return t.attribute(e, t.order.Uint32(t.Data[at+12:]))
	}
	b := t.Data[at+8:]
	fre, n := t.order.Uint32(b), t.order.Uint32(b[4:])
	if uint64(fre) > uint64(len(t.fres)) || uint64(n) > uint64(len(t.fres)) {
		return defect(at, "its %d rows at 0x%x are outside of the section", n, fre)
	}
	e.fre, e.FREs = int(fre), int(n)
	if b[8]&(infoUnused|infoSignal) != 0 {
		return defect(at, "the bits 0x%x of its info byte are not known", b[8]&(infoUnused|infoSignal))
	}
	repeat := uint32(0)
	if t.Version == 2 {
		repeat = uint32(b[9])
	}
	return t.info(e, b[8], repeat)
}

// attribute decodes what follows the index of version 3: the attribute at the start of the function's
// rows (section 2.3.2).
func (t *Table) attribute(e *FDE, fre uint32) error {
	const size = 5
	if uint64(fre) > uint64(len(t.fres)) || len(t.fres)-int(fre) < size {
		return defect(e.Offset, "its attribute at 0x%x is outside of the section", fre)
	}
	b := t.fres[fre:]
	e.fre, e.FREs = int(fre)+size, int(t.order.Uint16(b))
	switch {
	case b[2]&infoUnused != 0:
		return defect(e.Offset, "the bits 0x%x of its info byte are not known", b[2]&infoUnused)
	case b[3]&^info2Type != 0:
		return defect(e.Offset, "the bits 0x%x of its second info byte are not known", b[3]&^info2Type)
	case b[3] > 1:
		return defect(e.Offset, "the FDE type %d is not known", b[3])
	}
	e.Flexible, e.Signal = b[3] == 1, b[2]&infoSignal != 0
	return t.info(e, b[2], uint32(b[4]))
}

// info decodes the first info byte.
func (t *Table) info(e *FDE, info uint8, repeat uint32) error {
	e.FREType, e.Masked = info&infoFREType, info&infoMask != 0
	e.KeyB = info&infoKeyB != 0 && t.ABI <= AArch64Little
	switch {
	case e.FREType > 2:
		return defect(e.Offset, "the FRE type %d is not known", e.FREType)
	case info&infoKeyB != 0 && !e.KeyB:
		return defect(e.Offset, "a key for return addresses does not exist on %v", t.ABI)
	case !e.Masked:
		return nil
	case t.Version > 1:
		if e.Repeat = repeat; repeat == 0 {
			return defect(e.Offset, "its rows repeat, and the size of the block is 0")
		}
		return nil
	}
	if e.FREs > maxMasks {
		return defect(e.Offset, "it has %d masks", e.FREs)
	}
	var f FRE
	for c := t.Rows(e); c.Next(&f); {
		e.Repeat = max(e.Repeat, f.Start)
	}
	if e.Repeat >= 1<<31 {
		return defect(e.Offset, "the mask 0x%x is too large", e.Repeat)
	}
	e.Repeat = 1 << bits.Len32(e.Repeat)
	return nil
}

// All iterates over all FDEs in the order of the section. A malformed FDE comes with its error; Lo, Hi
// and Offset are valid. The FDE belongs to the iterator.
func (t *Table) All() iter.Seq2[*FDE, error] {
	return func(yield func(*FDE, error) bool) {
		var e FDE
		for i := range t.FDEs {
			err := t.fde(i, &e)
			if !yield(&e, err) {
				return
			}
		}
	}
}

// Bounds returns the addresses of the function at pc.
func (t *Table) Bounds(pc uint64) (lo, hi uint64, ok bool) {
	i, err := t.find(pc)
	if err != nil {
		return 0, 0, false
	}
	lo = t.start(i)
	return lo, lo + t.size(i), true
}

// Find fills e with the FDE that covers pc. ErrNotCovered means that there is no such FDE. Any other
// error means that the FDE can't be used.
func (t *Table) Find(pc uint64, e *FDE) error {
	i, err := t.find(pc)
	if err != nil {
		return err
	}
	return t.fde(i, e)
}
