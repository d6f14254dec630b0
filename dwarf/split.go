package dwarf

import (
	"fmt"

	"dbg/internal/bytecursor"
)

// NewSplit returns the debug information of a .dwo file, or of a package (.dwp), whose section
// names end in ".dwo" (section 7.3.5). DWARF 4's extension, DebugFission, is the same with other
// numbers.
func NewSplit(src Source, bigEndian bool) *Data {
	d := New(src, bigEndian)
	d.suffix = ".dwo"
	return d
}

// isSplit reports whether the unit is in a .dwo file or a package.
func (u *Unit) isSplit() bool { return u.Data.suffix != "" }

// IsSkeleton reports whether the unit is a skeleton for a unit in another file. In DWARF 4 only an
// attribute shows it.
func (u *Unit) IsSkeleton() bool {
	return !u.isSplit() && (u.Type == UTSkeleton || u.Type == UTCompile && u.Version < 5 && u.Root().hasDwo)
}

// Full returns the unit that contains the entries: for a skeleton unit its split unit, if
// available; otherwise u itself. The entries of a skeleton unit are its root, with the information
// for the linker, and perhaps functions and inlined calls without variables (clang
// -fsplit-dwarf-inlining).
func (u *Unit) Full() *Unit {
	if u.fullDone {
		return u.full
	}
	u.full, u.fullDone = u, true
	if u.Data.Split == nil || !u.IsSkeleton() {
		return u
	}
	if full := u.Data.Split(u); full != nil && full.isSplit() && full.skeleton == u {
		u.full = full
	}
	return u.full
}

// Skeleton returns the skeleton unit, in the program's file, of a split unit; it is nil for all
// other units, including type units.
func (u *Unit) Skeleton() *Unit { return u.skeleton }

// SplitUnit returns the split unit of a skeleton unit, and links the two. It returns an error if
// the unit is not in this file, or belongs to another skeleton unit.
func (d *Data) SplitUnit(skeleton *Unit) (*Unit, error) {
	id := skeleton.Root().DwoID
	u, err := d.unitWithID(id)
	if err != nil {
		return nil, err
	}
	if u.skeleton != nil && u.skeleton != skeleton {
		return nil, fmt.Errorf("two units of the program have the id %016x", id)
	}
	if u.AddrSize != skeleton.AddrSize {
		return nil, fmt.Errorf("its address size is %d bytes, but the program's is %d", u.AddrSize, skeleton.AddrSize)
	}
	// Its root was read without the skeleton.
	u.skeleton, u.root, u.lines = skeleton, nil, nil
	d.owner = skeleton
	return u, nil
}

func (d *Data) unitWithID(id uint64) (*Unit, error) {
	if d.pack != nil {
		if u := d.packedUnit(d.pack.units, id); u != nil && u.dwoID() == id {
			return u, nil
		}
		return nil, fmt.Errorf("the package has no unit with the id %016x", id)
	}
	units, err := d.Units()
	other, n := uint64(0), 0
	for _, u := range units {
		if u.Type != UTSplitCompile && u.Type != UTCompile {
			continue
		}
		got := u.dwoID()
		if got == id {
			return u, nil
		}
		other, n = got, n+1
	}
	switch {
	case err != nil:
		return nil, err
	case n == 0:
		return nil, fmt.Errorf("the file has no split unit")
	}
	return nil, fmt.Errorf("the file's id is %016x, not %016x: it is from another build", other, id)
}

// dwoID returns the id of a split unit.
func (u *Unit) dwoID() uint64 {
	if u.Type == UTSplitCompile {
		return u.signature
	}
	return u.Root().DwoID
}

// TypeUnits returns the type units of the file.
func (d *Data) TypeUnits() []*Unit {
	var out []*Unit
	units, _ := d.Units()
	for _, u := range units {
		if u.Type == UTType || u.Type == UTSplitType {
			out = append(out, u)
		}
	}
	return out
}

// HasSkeletons reports whether the file has skeleton units.
func (d *Data) HasSkeletons() bool {
	units, _ := d.Units()
	for _, u := range units {
		if u.IsSkeleton() {
			return true
		}
	}
	return false
}

// splitBases sets the table offsets of a split unit. No attributes contain them, because each
// section, or the unit's part of it in a package, has only one table. In DWARF 5 the tables have
// headers (sections 7.26 to 7.29).
func (u *Unit) splitBases(root *Root) {
	root.strOffsetsBase, root.rngListsBase, root.locListsBase = u.part(secStrOffsets), u.part(secRngLists), u.part(secLocLists)
	if u.Version < 5 {
		return
	}
	strings, lists := uint64(8), uint64(12)
	if u.Is64 {
		strings, lists = 16, 20
	}
	root.strOffsetsBase += strings
	root.rngListsBase += lists
	root.locListsBase += lists
}

// inherit copies the fields that only the skeleton unit has.
func (r *Root) inherit(s *Root) {
	r.LowPC, r.HasLowPC, r.HasRange = s.LowPC, s.HasLowPC, s.HasRange
	r.lineOff, r.hasLines = s.lineOff, s.hasLines
	if r.CompDir == "" {
		r.CompDir = s.CompDir
	}
}

func (e *Entry) text(a Attr) string {
	s, _ := e.String(a)
	return s
}

// locationGNU reads .debug_loc.dwo in the format of DWARF 4's extension: an entry begins with its
// kind, and addresses are indexes into .debug_addr.
func (u *Unit) locationGNU(r *bytecursor.Cursor, pc uint64) ([]byte, error) {
	for range maxRanges {
		var lo, hi uint64
		switch kind := r.U8(); kind {
		case lleGNUEndOfList:
			return nil, r.Err()
		case lleGNUBaseAddress: // no other kind uses it
			r.ULEB()
			continue
		case lleGNUStartEnd:
			lo, hi = u.index(r), u.index(r)
		case lleGNUStartLength:
			// gcc writes END-START-1 instead of END-(START-1), here also below 0.
			lo = u.index(r)
			hi = lo + uint64(max(0, int32(r.U32())))
		default:
			return nil, unknownKind(kind)
		}
		block := r.Block(uint64(r.U16()))
		if r.Err() != nil {
			return nil, r.Err()
		}
		if lo <= pc && pc < hi {
			return block, nil
		}
	}
	return nil, errNoEnd
}
