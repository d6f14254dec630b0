package dwarf

import (
	"cmp"
	"fmt"
	"slices"

	"dbg/internal/bytecursor"
)

// packages are the indexes of a package of split units (section 7.3.5.3).
type packages struct {
	units *packageIndex // .debug_cu_index
	types *packageIndex // .debug_tu_index; nil if the section is missing
}

// packageIndex is an index section: a hash table from ids or signatures to rows. A row holds the
// offsets and sizes of one unit's parts of the sections.
type packageIndex struct {
	big     bool
	rows    uint64
	slots   uint64
	ids     []byte // 8 bytes for each slot
	numbers []byte // 4 bytes for each slot: the row, counted from 1; 0 means empty
	columns []sectionID
	offsets []byte // rows of 4 bytes for each column
	sizes   []byte

	byOffset []packedAt // rows by the offset of their unit; nil before the first use
}

// packedAt is the row of the unit at an offset of .debug_info.dwo or .debug_types.dwo.
type packedAt struct {
	off uint64 // includes typesBase in .debug_types.dwo
	row uint32
}

// contribution holds the offsets and sizes of a unit's parts of the sections.
type contribution struct{ offset, size [numSections]uint64 }

// part returns the offset of the unit's part of a section; it is 0 except in a package.
func (u *Unit) part(id sectionID) uint64 {
	if u.parts == nil {
		return 0
	}
	return u.parts.offset[id]
}

// NewPackage is NewSplit for a package. It returns an error if src is not a package, or if an index
// is malformed.
func NewPackage(src Source, bigEndian bool) (*Data, error) {
	d := NewSplit(src, bigEndian)
	units, err := readPackageIndex(src, ".debug_cu_index", bigEndian)
	if err != nil {
		return nil, err
	}
	types, err := readPackageIndex(src, ".debug_tu_index", bigEndian)
	if err != nil {
		return nil, err
	}
	if units == nil && types == nil {
		return nil, fmt.Errorf("the file has no .debug_cu_index")
	}
	d.pack = &packages{units, types}
	return d, nil
}

// maxColumns limits the columns of an index: there are eight kinds of sections.
const maxColumns = 64

func readPackageIndex(src Source, name string, big bool) (*packageIndex, error) {
	b := src.Prefix(name, 1<<62)
	if len(b) == 0 {
		return nil, nil
	}
	r := bytecursor.Cursor{Data: b, Big: big}
	x := &packageIndex{big: big}
	// Version 2 is DebugFission's and has 4 bytes. DWARF 5 has 2 bytes and padding.
	version := r.U16()
	if other := r.U16(); big && version == 0 {
		version = other
	}
	columns := uint64(r.U32())
	x.rows, x.slots = uint64(r.U32()), uint64(r.U32())
	switch {
	case r.Err() != nil:
		return nil, fmt.Errorf("%s: %w", name, r.Err())
	case version != 2 && version != 5:
		return nil, fmt.Errorf("%s has unsupported version %d", name, version)
	case columns > maxColumns || x.slots&(x.slots-1) != 0 || x.rows > x.slots:
		return nil, fmt.Errorf("%s is malformed: %d columns, %d units, %d slots", name, columns, x.rows, x.slots)
	}
	x.ids, x.numbers = r.Block(8*x.slots), r.Block(4*x.slots)
	for range columns {
		x.columns = append(x.columns, packageSection(version, r.U32()))
	}
	x.offsets = r.Block(4 * x.rows * columns)
	x.sizes = r.Block(4 * x.rows * columns)
	if r.Err() != nil {
		return nil, fmt.Errorf("%s: %w", name, r.Err())
	}
	return x, nil
}

// packageSection translates a DW_SECT_ number (table 7.1, and version 2's). It returns numSections
// for an unused section.
func packageSection(version uint16, n uint32) sectionID {
	switch n {
	case 1:
		return secInfo
	case 2:
		if version == 2 {
			return secTypes
		}
	case 3:
		return secAbbrev
	case 4:
		return secLine
	case 5:
		if version == 2 {
			return secLoc
		}
		return secLocLists
	case 6:
		return secStrOffsets
	case 8:
		if version == 5 {
			return secRngLists
		}
	}
	return numSections
}

// word returns the 4-byte number at an index of one of x's tables.
func (x *packageIndex) word(table []byte, i uint64) uint64 {
	r := bytecursor.Cursor{Data: table, Pos: int(4 * i), Big: x.big}
	return uint64(r.U32())
}

// row looks up an id in the hash table (section 7.3.5.3); rows count from 0.
func (x *packageIndex) row(id uint64) (uint64, bool) {
	if x == nil || x.slots == 0 {
		return 0, false
	}
	mask := x.slots - 1
	slot, step := id&mask, id>>32&mask|1
	for range x.slots {
		n := x.word(x.numbers, slot)
		if n == 0 || n > x.rows {
			return 0, false
		}
		r := bytecursor.Cursor{Data: x.ids, Pos: int(8 * slot), Big: x.big}
		if r.U64() == id {
			return n - 1, true
		}
		slot = (slot + step) & mask
	}
	return 0, false
}

// contribution returns the parts of a row.
func (x *packageIndex) contribution(row uint64) *contribution {
	c := &contribution{}
	for i, id := range x.columns {
		if id < numSections {
			at := row*uint64(len(x.columns)) + uint64(i)
			c.offset[id], c.size[id] = x.word(x.offsets, at), x.word(x.sizes, at)
		}
	}
	return c
}

// place returns the location of a row's unit.
func (x *packageIndex) place(row uint64) (off, size uint64, ok bool) {
	c := x.contribution(row)
	for _, id := range []sectionID{secTypes, secInfo} {
		if c.size[id] != 0 {
			off = c.offset[id]
			if id == secTypes {
				off += typesBase
			}
			return off, c.size[id], true
		}
	}
	return 0, 0, false
}

// packedUnit returns the unit with an id, or nil.
func (d *Data) packedUnit(x *packageIndex, id uint64) *Unit {
	row, ok := x.row(id)
	if !ok {
		return nil
	}
	off, _, ok := x.place(row)
	if !ok {
		return nil
	}
	u, err := d.UnitAt(off)
	if err != nil || x == d.pack.types && u.signature != id {
		return nil
	}
	return u
}

// place sets the parts of a unit in a package.
func (d *Data) place(u *Unit) error {
	if d.pack == nil {
		return nil
	}
	for _, x := range []*packageIndex{d.pack.units, d.pack.types} {
		if row, ok := x.at(u.Offset); ok {
			u.parts = x.contribution(row)
			u.abbrevOff += u.parts.offset[secAbbrev]
			return nil
		}
	}
	return fmt.Errorf("the package's indexes do not list a unit at 0x%x", u.Offset)
}

// at returns the row whose unit part contains an offset. A .dwo file may have contained several
// units, which then share its other sections.
func (x *packageIndex) at(off uint64) (uint64, bool) {
	if x == nil {
		return 0, false
	}
	if x.byOffset == nil {
		x.byOffset = make([]packedAt, 0, x.rows)
		for row := range x.rows {
			if off, _, ok := x.place(row); ok {
				x.byOffset = append(x.byOffset, packedAt{off, uint32(row)})
			}
		}
		slices.SortFunc(x.byOffset, func(a, b packedAt) int { return cmp.Compare(a.off, b.off) })
	}
	i, found := slices.BinarySearchFunc(x.byOffset, off, func(p packedAt, off uint64) int { return cmp.Compare(p.off, off) })
	if !found {
		i--
	}
	if i < 0 {
		return 0, false
	}
	row := uint64(x.byOffset[i].row)
	start, size, _ := x.place(row)
	return row, off-start < size
}
