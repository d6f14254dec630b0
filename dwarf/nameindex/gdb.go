package nameindex

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"dbg/dwarf"
	"dbg/internal/bytecursor"
)

const gdbSection = ".gdb_index"

// GDB is a .gdb_index section, as described in the chapter "Index Section Format" of gdb's
// manual: qualified names, and the units that contain them. It is little-endian, and searched in
// place.
type GDB struct {
	Version uint32

	units   []byte // offset and length, of 8 bytes each
	types   []byte // offset, offset of the type, signature
	areas   []byte // two addresses, and the number of a unit in 4 bytes
	slots   []byte // symbol table: offsets of name and units in pool, of 4 bytes each
	pool    []byte
	poolOff uint64
}

// maxName limits the length of a name in bytes. Names of C++ templates may have tens of thousands.
const maxName = 1 << 20

// GDBUnit is a unit of a GDB.
type GDBUnit struct {
	Offset    uint64 // in .debug_info, or in the section of the type unit
	Signature uint64 // for a type unit
	IsType    bool
}

// GDBSymbol is one unit that contains a name.
type GDBSymbol struct {
	Unit   uint32
	Kind   SymbolKind
	Static bool
}

// SymbolKind is the kind of a GDBSymbol. It is KindUnknown before version 7.
type SymbolKind uint8

const (
	KindUnknown  SymbolKind = 0
	KindType     SymbolKind = 1
	KindVariable SymbolKind = 2 // or an enumerator
	KindFunction SymbolKind = 3
	KindOther    SymbolKind = 4
)

// ReadGDB returns the contents of .gdb_index, or nil if the section is missing. They are valid as
// long as d.
func ReadGDB(d *dwarf.Data) (*GDB, error) {
	b := d.Section(gdbSection)
	if len(b) == 0 {
		return nil, nil
	}
	x, err := parseGDB(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", gdbSection, err)
	}
	return x, nil
}

// parseGDB reads the header; the parts follow in its order. Versions before 4 use another hash
// and lack symbols; gdb does not use them either.
func parseGDB(b []byte) (*GDB, error) {
	r := bytecursor.Cursor{Data: b}
	x := &GDB{Version: r.U32()}
	if r.Err() == nil && (x.Version < 4 || x.Version > 9) {
		return nil, fmt.Errorf("unsupported version %d", x.Version)
	}
	n := 5
	if x.Version >= 9 {
		n = 6 // the shortcut table is before the constant pool
	}
	at := make([]uint64, 0, 7)
	for range n {
		at = append(at, uint64(r.U32()))
	}
	if r.Err() != nil {
		return nil, r.Err()
	}
	at = append(at, uint64(len(b)))
	last := uint64(r.Pos)
	for i, off := range at {
		if off < last || off > uint64(len(b)) {
			return nil, fmt.Errorf("part %d has invalid offset 0x%x in 0x%x bytes", i, off, len(b))
		}
		last = off
	}
	x.units, x.types, x.areas, x.slots = b[at[0]:at[1]], b[at[1]:at[2]], b[at[2]:at[3]], b[at[3]:at[4]]
	x.poolOff = at[n-1]
	x.pool = b[x.poolOff:]
	for i, p := range []struct {
		part []byte
		size int
	}{{x.units, 16}, {x.types, 24}, {x.areas, 20}, {x.slots, 8}} {
		if len(p.part)%p.size != 0 {
			return nil, fmt.Errorf("part %d at 0x%x has %d bytes, which is not a multiple of %d", i, at[i], len(p.part), p.size)
		}
	}
	return x, nil
}

// NumUnits returns the number of units: compile units, then type units.
func (x *GDB) NumUnits() int { return len(x.units)/16 + len(x.types)/24 }

// Unit returns the unit with number i, or false.
func (x *GDB) Unit(i int) (u GDBUnit, ok bool) {
	le := binary.LittleEndian
	n := len(x.units) / 16
	switch {
	case i < 0 || i >= x.NumUnits():
		return u, false
	case i < n:
		u.Offset = le.Uint64(x.units[16*i:])
		return u, true
	}
	b := x.types[24*(i-n):]
	return GDBUnit{le.Uint64(b), le.Uint64(b[16:]), true}, true
}

// Areas calls fn for the address ranges of units, until fn returns false.
func (x *GDB) Areas(fn func(r dwarf.Range, unit uint32) bool) {
	le := binary.LittleEndian
	for b := x.areas; len(b) >= 20; b = b[20:] {
		if r := (dwarf.Range{Lo: le.Uint64(b), Hi: le.Uint64(b[8:])}); r.Lo < r.Hi && !fn(r, le.Uint32(b[16:])) {
			return
		}
	}
}

// Symbols calls fn for each symbol, with the offsets of its name and its units, until fn returns
// false.
func (x *GDB) Symbols(fn func(name, units uint32) bool) {
	le := binary.LittleEndian
	for b := x.slots; len(b) >= 8; b = b[8:] {
		name, units := le.Uint32(b), le.Uint32(b[4:])
		if (name != 0 || units != 0) && !fn(name, units) {
			return
		}
	}
}

// Name returns the string at an offset, or nil.
func (x *GDB) Name(at uint32) []byte {
	if uint64(at) >= uint64(len(x.pool)) {
		return nil
	}
	b := x.pool[at:]
	i := bytes.IndexByte(b[:min(len(b), maxName)], 0)
	if i < 0 {
		return nil
	}
	return b[:i]
}

// Mentioning calls fn for each name that contains text, with the offset of its units, until fn
// returns false. It searches the pool first, so that it examines only names that contain the text.
func (x *GDB) Mentioning(text string, fn func(name []byte, units uint32) bool) {
	if text == "" {
		return
	}
	// A hit belongs to a string that begins after the last zero byte before it. That may be at any
	// later byte: numbers precede the first string.
	type span struct{ lo, hi uint32 }
	var spans []span
	find := []byte(text)
	for at := 0; ; {
		i := bytes.Index(x.pool[at:], find)
		if i < 0 || at+i >= 1<<32 {
			break
		}
		hit := at + i
		lo := bytes.LastIndexByte(x.pool[at:hit], 0) + 1 + at
		spans = append(spans, span{uint32(lo), uint32(hit)})
		at = hit + 1
	}
	if len(spans) == 0 {
		return
	}
	x.Symbols(func(name, units uint32) bool {
		if name < spans[0].lo || name > spans[len(spans)-1].hi {
			return true
		}
		// Find the first span that does not end before the name.
		lo, hi := 0, len(spans)
		for lo < hi {
			if mid := (lo + hi) / 2; spans[mid].hi < name {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		if lo == len(spans) || spans[lo].lo > name {
			return true
		}
		s := x.Name(name)
		return s == nil || fn(s, units)
	})
}

// Size returns the size of the names and lists of units in bytes.
func (x *GDB) Size() uint64 { return uint64(len(x.pool)) }

// UnitsWithSymbols reports for each unit, by number, whether it has symbols. It reads each list
// once, even if many symbols share it.
func (x *GDB) UnitsWithSymbols() []bool {
	out := make([]bool, x.NumUnits())
	done := make([]uint64, len(x.pool)/64+1)
	visits := 0
	x.Symbols(func(_, units uint32) bool {
		if uint64(units) >= uint64(len(x.pool)) || done[units/64]>>(units%64)&1 != 0 {
			return true
		}
		done[units/64] |= 1 << (units % 64)
		_ = x.Units(units, func(s GDBSymbol) bool {
			if int(s.Unit) < len(out) {
				out[s.Unit] = true
			}
			visits++
			return visits <= len(x.pool)
		})
		return visits <= len(x.pool) // the lists overlap
	})
	return out
}

// Units calls fn for the units of a symbol, until fn returns false. at comes from Symbols or
// Mentioning.
func (x *GDB) Units(at uint32, fn func(s GDBSymbol) bool) error {
	r := bytecursor.Cursor{Data: x.pool}
	fail := func(err error) error {
		return fmt.Errorf("%s unit list at 0x%x: %w", gdbSection, x.poolOff+uint64(at), err)
	}
	if uint64(at) >= uint64(len(x.pool)) {
		return fail(fmt.Errorf("offset is beyond the end of the section"))
	}
	r.Pos = int(at)
	n := r.U32()
	list := r.Block(4 * uint64(n))
	if r.Err() != nil {
		return fail(r.Err())
	}
	for b := list; len(b) >= 4; b = b[4:] {
		v := binary.LittleEndian.Uint32(b)
		if !fn(GDBSymbol{Unit: v & (1<<24 - 1), Kind: SymbolKind(v >> 28 & 7), Static: v>>31 != 0}) {
			return nil
		}
	}
	return nil
}
