package cfi

import (
	"fmt"

	"dbg/arch"
	"dbg/internal/bytecursor"
	"dbg/internal/ehpointer"
)

// Error reports a defect of one entry.
type Error struct {
	Section string // ".eh_frame", ".debug_frame"
	Offset  uint64 // of the entry in the section
	Err     error  // the defect; a *bytecursor.Error for an unreadable value
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s entry at 0x%x: %v", e.Section, e.Offset, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// CIE is a common information entry, DWARF 5 section 6.4.1.
type CIE struct {
	Offset       uint64
	Version      byte
	Augmentation []byte // aliases the section
	CodeAlign    uint64
	DataAlign    int64
	RA           arch.Reg // return address column; NoReg if the architecture has no such register
	RAColumn     uint64   // its DWARF number
	Signal       bool     // augmentation S: the FDEs' function is a signal trampoline
	BKey         bool     // augmentation B: AArch64 return addresses are signed with key B
	MTE          bool     // augmentation G: AArch64 stack is tagged

	AddrSize, SegSize byte // written in version 4 and later

	// Personality is the address of the personality routine, if HasPersonality is set. If Indirect
	// is set, it is the address of a pointer to it.
	Personality    uint64
	HasPersonality bool
	Indirect       bool

	wide            bool // the CIE id has 8 bytes, see Table.cie
	hasData         bool // augmentation begins with z
	ptrEnc, lsdaEnc byte
	augData         [2]int // start and end of the augmentation data in the section
	instr           [2]int // start and end of the initial instructions
}

// FDE is a frame description entry: the unwind table of one range of addresses, in the file's
// address space.
type FDE struct {
	Offset uint64
	Lo, Hi uint64
	CIE    CIE
	// LSDA is the address of the language-specific data area, if HasLSDA is set. With
	// DW_EH_PE_indirect it is the address of a pointer to it.
	LSDA    uint64
	HasLSDA bool

	augData [2]int
	instr   [2]int
}

// header holds the fields that begin both CIEs and FDEs.
type header struct {
	off   uint64
	id    uint64
	idPos int
	pos   int // after the id
	end   int // end of the entry
	isCIE bool
	empty bool // a terminator, or padding
	is64  bool
}

// header reads the start of the entry at off. wide is set if the id of a 64-bit entry in .eh_frame
// has 8 bytes, see Table.cie.
func (t *Table) header(off uint64, wide bool) (h header, err error) {
	if off >= uint64(len(t.data)) {
		return h, t.err(off, defect("offset is outside the section"))
	}
	r := bytecursor.Cursor{Data: t.data, Pos: int(off), Big: !t.little}
	h.off = off
	n, is64 := r.InitialLength()
	h.is64 = is64
	if r.Err() != nil {
		return h, t.err(off, r.Err())
	}
	if n > uint64(r.Left()) {
		return h, t.err(off, defect("length exceeds the section"))
	}
	h.end = r.Pos + int(n)
	if n == 0 {
		h.empty, h.pos = true, h.end
		return h, nil
	}
	r.Data = r.Data[:h.end]
	h.idPos = r.Pos
	h.id = r.Offset(is64 && (t.debug || wide))
	h.pos = r.Pos
	switch {
	case !t.debug:
		h.isCIE = h.id == 0
	case h.is64:
		h.isCIE = h.id == 1<<64-1
	default:
		h.isCIE = h.id == 0xffffffff
	}
	if r.Err() != nil {
		return h, t.err(off, r.Err())
	}
	return h, nil
}

// cie reads the CIE at off.
func (t *Table) cie(off uint64, c *CIE) error {
	h, err := t.header(off, false)
	if err != nil {
		return err
	}
	if h.is64 && !t.debug && h.isCIE && h.pos < h.end && t.data[h.pos] == 0 {
		// According to the LSB the id in .eh_frame always has 4 bytes, but binutils writes 8 in
		// 64-bit entries. In that case the version seems to be 0.
		if h, err = t.header(off, true); err != nil {
			return err
		}
	}
	if h.empty || !h.isCIE {
		return t.err(off, defect("not a CIE"))
	}
	*c = CIE{Offset: off, wide: h.pos-h.idPos == 8, AddrSize: byte(t.ptr), ptrEnc: ehpointer.Absptr, lsdaEnc: ehpointer.Omit}
	r := bytecursor.Cursor{Data: t.data[:h.end], Pos: h.pos, Big: !t.little}
	c.Version = r.U8()
	switch c.Version {
	case 1, 3, 4, 5:
	default:
		return t.err(off, defect(fmt.Sprintf("unsupported CIE version %d", c.Version)))
	}
	c.Augmentation = r.CString()
	aug := c.Augmentation
	if len(aug) >= 2 && aug[0] == 'e' && aug[1] == 'h' {
		r.Block(uint64(t.ptr)) // GCC 2 has a pointer here to its exception table
		aug = aug[2:]
	}
	if c.Version >= 4 {
		c.AddrSize, c.SegSize = r.U8(), r.U8()
		if c.AddrSize != 4 && c.AddrSize != 8 && c.AddrSize != 2 || c.SegSize > 8 {
			return t.err(off, defect(fmt.Sprintf("unsupported address size %d with segment selector size %d", c.AddrSize, c.SegSize)))
		}
	}
	c.CodeAlign, c.DataAlign = r.ULEB(), r.SLEB()
	if c.Version == 1 {
		c.RAColumn = uint64(r.U8())
	} else {
		c.RAColumn = r.ULEB()
	}
	c.RA, _ = t.arch.FromDWARF(c.RAColumn)
	if err := t.augmentation(c, aug, &r); err != nil {
		return err
	}
	c.instr = [2]int{r.Pos, h.end}
	if r.Err() != nil {
		return t.err(off, r.Err())
	}
	return nil
}

// augmentation reads the fields for the letters after "eh": LSB Core, "Augmentation String Format".
// If 'z' comes first, an unknown letter ends the reading, but the CIE stays usable, since the
// length of the data is known.
func (t *Table) augmentation(c *CIE, aug []byte, r *bytecursor.Cursor) error {
	end := len(r.Data)
	if len(aug) > 0 && aug[0] == 'z' {
		c.hasData = true
		aug = aug[1:]
		n := r.ULEB()
		if n > uint64(r.Left()) {
			return t.err(c.Offset, defect("augmentation data is longer than the entry"))
		}
		end = r.Pos + int(n)
		c.augData = [2]int{r.Pos, end}
	}
	b := ehpointer.Bases{Section: t.addr, Text: t.text, Data: t.dataBase}
letters:
	for _, l := range aug {
		switch l {
		case 'R':
			c.ptrEnc = r.U8()
		case 'P':
			enc := r.U8()
			c.Personality = ehpointer.Read(r, enc, t.ptr, &b)
			c.HasPersonality, c.Indirect = enc != ehpointer.Omit, enc&ehpointer.Indirect != 0
		case 'L':
			c.lsdaEnc = r.U8()
		case 'S':
			c.Signal = true
		case 'B':
			c.BKey = true
		case 'G':
			c.MTE = true
		default:
			if !c.hasData {
				return t.err(c.Offset, defect(fmt.Sprintf("unknown augmentation %q", c.Augmentation)))
			}
			break letters
		}
	}
	if c.hasData && r.Err() == nil {
		if r.Pos > end {
			return t.err(c.Offset, defect(fmt.Sprintf("augmentation data is too short for augmentation %q", c.Augmentation)))
		}
		r.Pos = end
	}
	return nil
}

// fde reads the FDE at off. x caches CIEs.
func (t *Table) fde(off uint64, f *FDE, x *exec) error {
	h, err := t.header(off, false)
	if err != nil {
		return err
	}
	if h.empty || h.isCIE {
		return t.err(off, defect("not an FDE"))
	}
	if err = t.cieOf(&h, f, x); err != nil {
		return err
	}
	if f.CIE.wide && !t.debug { // the low half of the pointer was enough to find the CIE
		if h, err = t.header(off, true); err != nil {
			return err
		}
	}
	c := &f.CIE
	f.Offset, f.LSDA, f.HasLSDA, f.augData = off, 0, false, [2]int{}
	r := bytecursor.Cursor{Data: t.data[:h.end], Pos: h.pos, Big: !t.little}
	b := ehpointer.Bases{Section: t.addr, Text: t.text, Data: t.dataBase}
	r.Block(uint64(c.SegSize))
	var n uint64
	if t.debug {
		f.Lo = r.Uint(int(c.AddrSize))
		n = r.Uint(int(c.AddrSize))
	} else {
		if c.ptrEnc == ehpointer.Omit || c.ptrEnc&ehpointer.Indirect != 0 {
			return t.err(off, &bytecursor.Error{Kind: bytecursor.ErrUnsupported, Offset: r.Pos,
				Item: fmt.Sprintf("an address of pointer encoding 0x%02x", c.ptrEnc)})
		}
		f.Lo = ehpointer.Read(&r, c.ptrEnc, int(c.AddrSize), &b)
		n = ehpointer.Value(&r, c.ptrEnc, int(c.AddrSize)) // a length has no base to add
	}
	if !t.debug {
		n = unsigned(n, c.ptrEnc, int(c.AddrSize))
	}
	f.Hi = f.Lo + n
	if f.Hi < f.Lo || c.AddrSize == 4 && f.Hi > 1<<32 {
		return t.err(off, defect("address range exceeds the address space"))
	}
	if c.hasData {
		aug := r.ULEB()
		if aug > uint64(r.Left()) {
			return t.err(off, defect("augmentation data is longer than the entry"))
		}
		end := r.Pos + int(aug)
		f.augData = [2]int{r.Pos, end}
		if c.lsdaEnc != ehpointer.Omit && aug > 0 { // an FDE with a "zPLR" CIE may have no LSDA
			b.Func = f.Lo
			l := r
			l.Data = l.Data[:end]
			f.LSDA = ehpointer.Read(&l, c.lsdaEnc, int(c.AddrSize), &b)
			f.HasLSDA = l.Err() == nil && !zero(t.data[r.Pos:l.Pos])
		}
		r.Pos = end
	}
	f.instr = [2]int{r.Pos, h.end}
	if r.Err() != nil {
		return t.err(off, r.Err())
	}
	return nil
}

// cieOf reads the CIE of an FDE. .debug_frame holds the CIE's offset in the section, .eh_frame the
// distance from the pointer back to the CIE. The CIE may come after the FDE. A CIE contains no
// further pointer, so there can be no loop.
func (t *Table) cieOf(h *header, f *FDE, x *exec) error {
	off := h.id
	if !t.debug {
		off = uint64(h.idPos) - uint64(int64(int32(h.id))) // negative: the CIE follows the FDE
	}
	k, err := x.cie(off)
	if err == nil {
		f.CIE = k.cie
	}
	return err
}

// unsigned undoes the sign extension of a length that was read in a signed format of fixed size:
// GCC uses signed encodings, but lengths are unsigned.
func unsigned(v uint64, enc byte, size int) uint64 {
	if n := ehpointer.FixedSize(enc&^(ehpointer.Base|ehpointer.Indirect), size); n > 0 && n < 8 {
		return v & (1<<(8*uint(n)) - 1)
	}
	return v
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

func (t *Table) err(off uint64, err error) error {
	return &Error{Section: t.name(), Offset: off, Err: err}
}
