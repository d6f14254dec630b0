package sframe

// Bits of the info byte of a row (section 2.4.1).
const (
	freSP      = 0x01 // the base register of the CFA is the stack pointer, not the frame pointer
	freMangled = 0x80
)

// maxWords is the number of data words of a row that has a control word for each of its three values.
const maxWords = 6

// FRE is a frame row entry.
type FRE struct {
	Offset  int    // of the entry in the section
	Start   uint32 // offset of its first address from the function's start, or in the block that repeats
	Mangled bool   // the return address is signed
	SP      bool   // the base register of the CFA is the stack pointer; without meaning in flexible FDEs
	Size    uint8  // size of a data word in bytes
	Count   int    // number of data words
	Words   [maxWords]int32
}

// Outermost reports whether the row marks an outermost frame, which has no caller.
func (f *FRE) Outermost() bool { return f.Count == 0 }

// Cursor reads the rows of an FDE.
type Cursor struct {
	t    *Table
	rows int   // of the FDE
	kind uint8 // the FDE's FREType
	at   int   // in t.fres
	n    int   // number of rows read
	last uint32
	err  error
}

// Rows returns a cursor before the first row of an FDE.
func (t *Table) Rows(e *FDE) Cursor { return Cursor{t: t, rows: e.FREs, kind: e.FREType, at: e.fre} }

// Err returns the error that has ended Next.
func (c *Cursor) Err() error { return c.err }

// Next reads the next row. It returns false after the last row, and if the row is malformed: see Err.
func (c *Cursor) Next(f *FRE) bool {
	if c.n >= c.rows || c.err != nil {
		return false
	}
	c.err = c.read(f)
	return c.err == nil
}

func (c *Cursor) read(f *FRE) error {
	b, size := c.t.fres[min(c.at, len(c.t.fres)):], 1<<c.kind
	*f = FRE{Offset: c.t.freAt + c.at}
	if len(b) < size+1 {
		return defect(f.Offset, "row %d of %d is outside of the section", c.n, c.rows)
	}
	f.Start = uint32(c.t.number(b[:size]))
	info := b[size]
	f.SP, f.Mangled = info&freSP != 0, info&freMangled != 0
	f.Count, f.Size = int(info>>1&15), 1<<(info>>5&3)
	switch {
	case c.n > 0 && f.Start <= c.last:
		return defect(f.Offset, "the row for 0x%x comes after the row for 0x%x", f.Start, c.last)
	case f.Size == 8:
		return defect(f.Offset, "the size of its data words is not known")
	case f.Count > maxWords:
		return defect(f.Offset, "it has %d data words, and at most %d have a meaning", f.Count, maxWords)
	case len(b)-size-1 < f.Count*int(f.Size):
		return defect(f.Offset, "its %d data words of %d bytes are outside of the section", f.Count, f.Size)
	case f.Mangled && c.t.ABI > AArch64Little:
		return defect(f.Offset, "return addresses are not signed on %v", c.t.ABI)
	}
	b = b[size+1:]
	for i := range f.Count {
		f.Words[i] = int32(signed(c.t.number(b[:f.Size]), f.Size))
		b = b[f.Size:]
	}
	c.last, c.at, c.n = f.Start, c.at+size+1+f.Count*int(f.Size), c.n+1
	return nil
}

// number decodes an unsigned number of 1, 2 or 4 bytes.
func (t *Table) number(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(t.order.Uint16(b))
	}
	return uint64(t.order.Uint32(b))
}

// signed extends the sign of a number of 1, 2 or 4 bytes.
func signed(v uint64, size uint8) int64 {
	shift := 64 - 8*uint(size)
	return int64(v<<shift) >> shift
}

// at reads the row that covers an offset from the function's start. The row is valid for the offsets from
// begin up to but not including end.
func (t *Table) at(e *FDE, off uint64, f *FRE) (begin, end uint64, err error) {
	size, block := e.Hi-e.Lo, uint64(0)
	if e.Masked {
		block = off - off%uint64(e.Repeat)
		size = min(size-block, uint64(e.Repeat))
	}
	in, end, found := off-block, size, false
	var next FRE
	c := t.Rows(e)
	for c.Next(&next) {
		if t.applies(e, &next, in) {
			*f, found = next, true
		} else if !t.byMask(e) {
			end = min(end, uint64(next.Start))
			break
		}
	}
	switch {
	case c.err != nil:
		return 0, 0, c.err
	case !found:
		return 0, 0, ErrNotCovered
	case t.byMask(e): // a mask may apply to any addresses
		return off, off + 1, nil
	}
	return block + uint64(f.Start), block + end, nil
}

// byMask reports whether the starts of the rows are masks, as only version 1 has them.
func (t *Table) byMask(e *FDE) bool { return t.Version == 1 && e.Masked }

// applies reports whether a row begins at or before an offset in the function, or in its block
// (section 2.3.3.1).
func (t *Table) applies(e *FDE, f *FRE, in uint64) bool {
	if t.byMask(e) {
		return in&uint64(f.Start) >= uint64(f.Start)
	}
	return in >= uint64(f.Start)
}
