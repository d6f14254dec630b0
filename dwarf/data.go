package dwarf

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"sync"

	"dbg/dwarf/linetable"
	"dbg/internal/bytecursor"
)

// Source provides the sections of a file.
type Source interface {
	// Prefix returns the named section, such as ".debug_info", or nil. The slice has the length of
	// the whole section, but only its first n bytes need to be valid: a compressed section is
	// inflated as it is read.
	Prefix(name string, n uint64) []byte
}

type sectionID int

const (
	secInfo sectionID = iota
	secTypes
	secAbbrev
	secStr
	secLineStr
	secLine
	secRanges
	secRngLists
	secLoc
	secLocLists
	secAddr
	secStrOffsets
	secAranges
	numSections
)

var sectionNames = [numSections]string{".debug_info", ".debug_types", ".debug_abbrev", ".debug_str", ".debug_line_str", ".debug_line",
	".debug_ranges", ".debug_rnglists", ".debug_loc", ".debug_loclists", ".debug_addr", ".debug_str_offsets", ".debug_aranges"}

// typesBase is added to offsets in .debug_types (DWARF 4), so that a single number identifies an
// entry of either section.
const typesBase = 1 << 56

// Data is the debug information of a file.
type Data struct {
	src  Source
	big  bool
	secs [numSections]lazySection

	byOffset    map[uint64]*Unit
	units       []*Unit // all units, by offset; nil before the first call of Units
	unitsErr    error
	mu          sync.Mutex // guards abbrevs and abbrevBytes
	abbrevs     map[uint64]*abbrevTable
	abbrevBytes uint64 // size of all tables that were read
	bySig       map[uint64]*Unit
	shared      bool // see Share
	lines       *linetable.Section

	// Alt returns the supplementary file that DW_FORM_GNU_ref_alt and DW_FORM_ref_sup refer to
	// (dwz), or nil. It is called when first needed.
	Alt     func() *Data
	alt     *Data
	altDone bool

	// Split returns the unit of a .dwo file or package for a skeleton unit, or nil. It is called
	// once for each skeleton unit, when its entries are first needed.
	Split func(skeleton *Unit) *Unit

	suffix string    // appended to section names: ".dwo" in a file of split units
	pack   *packages // the indexes of a package; nil in other files
	owner  *Unit     // in a .dwo file, the skeleton unit that was last passed to SplitUnit
}

type lazySection struct {
	data   []byte
	valid  uint64
	loaded bool
}

// New returns the debug information of src. It reads nothing yet.
func New(src Source, bigEndian bool) *Data {
	d := &Data{src: src, big: bigEndian, byOffset: map[uint64]*Unit{}, abbrevs: map[uint64]*abbrevTable{}}
	d.lines = linetable.New((*lineSource)(d), bigEndian)
	return d
}

// BigEndian reports whether numbers are big-endian.
func (d *Data) BigEndian() bool { return d.big }

// section returns a section whose first n bytes are valid, or all bytes if it is shorter.
func (d *Data) section(id sectionID, n uint64) []byte {
	s := &d.secs[id]
	if !s.loaded || n > s.valid && s.valid < uint64(len(s.data)) {
		now := d.src.Prefix(sectionNames[id]+d.suffix, n)
		if uint64(len(now)) < uint64(len(s.data)) {
			// The rest of a compressed section is damaged. The bytes read so far are valid, and
			// may already be in use.
			now = s.data[:s.valid]
		}
		s.loaded, s.data, s.valid = true, now, max(n, s.valid)
	}
	return s.data
}

// upTo returns the first n bytes of a section, or an error if fewer are readable.
func (d *Data) upTo(id sectionID, n uint64) ([]byte, error) {
	b := d.section(id, n)
	if n > uint64(len(b)) {
		return nil, fmt.Errorf("%s%s is readable only up to 0x%x", sectionNames[id], d.suffix, len(b))
	}
	return b[:n], nil
}

// all returns a whole section.
func (d *Data) all(id sectionID) []byte { return d.section(id, 1<<62) }

// at returns a cursor over a section, at off. The n bytes from off are valid.
func (d *Data) at(id sectionID, off, n uint64) (bytecursor.Cursor, error) {
	b := d.section(id, off+n)
	if off > uint64(len(b)) || off+n < off {
		return bytecursor.Cursor{}, fmt.Errorf("offset 0x%x is beyond the end of %s", off, sectionNames[id])
	}
	return bytecursor.Cursor{Data: b, Pos: int(off), Big: d.big}, nil
}

func (d *Data) altData() *Data {
	if !d.altDone {
		d.altDone = true
		if d.Alt != nil {
			d.alt = d.Alt()
		}
	}
	return d.alt
}

// Section returns the bytes of a whole section by name, such as ".debug_names", or nil if it is
// missing. It is for sections that this package does not read itself.
func (d *Data) Section(name string) []byte { return d.src.Prefix(name, 1<<62) }

// StringAt returns the string at an offset of .debug_str, or nil if there is none. It aliases the
// section.
func (d *Data) StringAt(off uint64) []byte { return d.bytesAt(secStr, off) }

// bytesAt returns the string at an offset of a string section, or nil.
func (d *Data) bytesAt(id sectionID, off uint64) []byte {
	for n := uint64(256); n <= maxString; n *= 8 {
		b := d.section(id, off+n)
		if off >= uint64(len(b)) {
			return nil
		}
		b = b[off:min(off+n, uint64(len(b)))]
		if i := bytes.IndexByte(b, 0); i >= 0 {
			return b[:i:i]
		}
		if uint64(len(b)) < n {
			return nil
		}
	}
	return nil
}

// maxString limits the length of a string. Names of C++ templates may have tens of thousands of
// bytes.
const maxString = 1 << 20

// Units returns all units of .debug_info and .debug_types, in that order. The first call reads the
// headers. After a corrupt header it returns the units before it, and an error.
func (d *Data) Units() ([]*Unit, error) {
	if d.units != nil || d.unitsErr != nil {
		return d.units, d.unitsErr
	}
	for _, base := range []uint64{0, typesBase} {
		for off := base; ; {
			id := secInfo
			if base != 0 {
				id = secTypes
			}
			// The length of the section is known without its contents.
			if off-base >= uint64(len(d.section(id, 0))) {
				break
			}
			u, err := d.UnitAt(off)
			if err != nil {
				d.unitsErr = err
				break
			}
			d.units = append(d.units, u)
			off = u.End
		}
	}
	return d.units, d.unitsErr
}

// UnitOf returns the unit that contains an offset, or nil.
func (d *Data) UnitOf(off uint64) *Unit {
	if u := d.byOffset[off]; u != nil {
		return u
	}
	units, _ := d.Units()
	i, found := slices.BinarySearchFunc(units, off, func(u *Unit, off uint64) int { return cmp.Compare(u.Offset, off) })
	if !found {
		i--
	}
	if i < 0 || off >= units[i].End {
		return nil
	}
	return units[i]
}

// typeUnit returns the type unit with a signature, or nil.
func (d *Data) typeUnit(sig uint64) *Unit {
	if d.pack != nil {
		return d.packedUnit(d.pack.types, sig)
	}
	if d.bySig == nil {
		d.bySig = map[uint64]*Unit{}
		units, _ := d.Units()
		for _, u := range units {
			if u.Type == UTType || u.Type == UTSplitType {
				d.bySig[u.signature] = u
			}
		}
	}
	return d.bySig[sig]
}
