package dwarf

import (
	"dbg/dwarf/linetable"
	"errors"
	"fmt"
	"sync/atomic"
)

// Unit is a unit: a header and a tree of entries.
type Unit struct {
	Data     *Data
	Offset   uint64 // offset of the header
	End      uint64 // end of the unit, which is the Offset of the next one
	First    uint64 // offset of the root entry
	Version  int
	Type     UnitType
	Is64     bool // 64-bit DWARF: offsets have 8 bytes
	AddrSize int

	base      uint64 // typesBase for a unit of .debug_types
	abbrevOff uint64
	signature uint64
	typeOff   uint64 // offset of the type of a type unit
	table     *abbrevTable

	parts    *contribution // in a package, the unit's parts of the sections
	skeleton *Unit         // for a split unit, the skeleton unit in the program's file
	full     *Unit         // for a skeleton unit, see Full
	fullDone bool

	firstErr atomic.Pointer[error] // the first error of an entry or list

	root     *Root
	lines    *linetable.Table
	linesErr error
}

// Root holds the attributes of a unit's root entry.
type Root struct {
	Tag      Tag
	Name     string
	CompDir  string
	Producer string
	Language uint64
	LowPC    uint64
	HasLowPC bool
	HasRange bool // it has DW_AT_ranges, or DW_AT_low_pc and DW_AT_high_pc
	lineOff  uint64
	hasLines bool

	// DwoName and DwoID are the file name and the id of the split unit of a skeleton unit. DWARF
	// 4's extension stores the id as an attribute, also in the split unit.
	DwoName string
	DwoID   uint64
	hasDwo  bool // DwoName is set

	strOffsetsBase, addrBase, rngListsBase, locListsBase uint64
	rangesBase                                           uint64 // DWARF 4: base of the split unit's lists in .debug_ranges
}

// OffsetSize returns 4, or 8 in 64-bit DWARF.
func (u *Unit) OffsetSize() int {
	if u.Is64 {
		return 8
	}
	return 4
}

func (u *Unit) section() sectionID {
	if u.base != 0 {
		return secTypes
	}
	return secInfo
}

// UnitAt returns the unit whose header is at an offset.
func (d *Data) UnitAt(off uint64) (*Unit, error) {
	if u := d.byOffset[off]; u != nil {
		return u, nil
	}
	u := &Unit{Data: d, Offset: off}
	if off >= typesBase {
		u.base = typesBase
	}
	r, err := d.at(u.section(), off-u.base, 64)
	if err != nil {
		return nil, err
	}
	length, is64 := r.InitialLength()
	if r.Err() != nil {
		return nil, d.unitError(off, r.Err())
	}
	if length > uint64(r.Left()) {
		return nil, d.unitError(off, fmt.Errorf("length %d exceeds the section", length))
	}
	u.End, u.Is64 = uint64(r.Pos)+length+u.base, is64
	u.Version = int(r.U16())
	switch {
	case u.Version >= 2 && u.Version <= 4: // section 7.5.1 of DWARF 4
		u.abbrevOff = r.Offset(is64)
		u.AddrSize = int(r.U8())
		u.Type = UTCompile
		if u.base != 0 {
			u.Type = UTType
		}
	case u.Version == 5: // section 7.5.1
		u.Type = UnitType(r.U8())
		u.AddrSize = int(r.U8())
		u.abbrevOff = r.Offset(is64)
	default:
		// Skip a unit of an unknown version: its length is known.
		u.Type, u.First = utUnknown, u.End
		d.byOffset[off] = u
		return u, r.Err()
	}
	switch u.Type {
	case UTType, UTSplitType:
		u.signature = r.U64()
		u.typeOff = r.Offset(is64) + off
	case UTSkeleton, UTSplitCompile:
		u.signature = r.U64()
	}
	if r.Err() == nil && u.AddrSize != 4 && u.AddrSize != 8 && u.AddrSize != 2 {
		return nil, d.unitError(off, fmt.Errorf("unsupported address size %d", u.AddrSize))
	}
	if u.First = uint64(r.Pos) + u.base; r.Err() == nil && u.First > u.End {
		return nil, d.unitError(off, errors.New("the unit is shorter than its header"))
	}
	if r.Err() != nil {
		return nil, d.unitError(off, r.Err())
	}
	if err := d.place(u); err != nil {
		return nil, err
	}
	d.byOffset[off] = u
	return u, nil
}

// Root returns the attributes of the root entry. It is never nil; it is empty for an unreadable
// unit.
func (u *Unit) Root() *Root {
	if u.root != nil {
		return u.root
	}
	u.root = &Root{}
	e, err := u.Entry(u.First)
	if err != nil {
		return u.root
	}
	// Read the bases first: strings and addresses of the same entry need them. Without
	// DW_AT_str_offsets_base (a .dwo) the table starts after its header.
	root := &Root{Tag: e.Tag}
	root.strOffsetsBase = 8
	if u.Is64 {
		root.strOffsetsBase = 16
	}
	if u.Type == UTSkeleton {
		root.DwoID = u.signature
	}
	if u.isSplit() {
		u.splitBases(root)
	}
	for i := range e.Vals {
		v := &e.Vals[i]
		switch v.Attr {
		case AttrStrOffsetsBase:
			root.strOffsetsBase = v.Num
		case AttrGNURangesBase:
			root.rangesBase = v.Num
		case AttrGNUDwoID:
			root.DwoID = v.Num
		case AttrAddrBase, AttrGNUAddrBase:
			root.addrBase = v.Num
		case AttrRnglistsBase:
			root.rngListsBase = v.Num
		case AttrLoclistsBase:
			root.locListsBase = v.Num
		case AttrStmtList:
			root.lineOff, root.hasLines = u.part(secLine)+v.Num, true
		case AttrLanguage:
			root.Language = v.Num
		}
	}
	u.root = root
	root.Name, _ = e.String(AttrName)
	root.CompDir, _ = e.String(AttrCompDir)
	root.Producer, _ = e.String(AttrProducer)
	root.LowPC, root.HasLowPC = e.Addr(AttrLowPC)
	root.HasRange = e.Has(AttrRanges) || root.HasLowPC && e.Has(AttrHighPC)
	for _, a := range []Attr{AttrDwoName, AttrGNUDwoName} {
		if e.Has(a) && !u.isSplit() {
			root.DwoName, root.hasDwo = e.text(a), true
		}
	}
	if s := u.skeleton; s != nil {
		root.inherit(s.Root())
	}
	return root
}
