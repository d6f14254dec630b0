package dwarf

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"runtime"
	"slices"
	"sync/atomic"

	"dbg/dwarf/form"
	"dbg/internal/bytecursor"
	"dbg/internal/fault"
)

// maxPlaces limits the number of offsets in .debug_str in one search.
const maxPlaces = 1 << 12

// UnitsNaming returns the units that may have an entry with one of the tags and a name, or, with
// instances, with that name and template arguments. The result includes units whose entries may
// have names from other units. It searches the bytes, not the entries, for apparent beginnings of
// entries with the name. That is much less work, but may include a unit that has such bytes for
// another reason. ok is false if the search is not possible: strings or entries are in other files,
// or too many strings contain the text.
func (d *Data) UnitsNaming(name string, instances bool, tags func(Tag) bool) (units []*Unit, ok bool) {
	if name == "" || d.Alt != nil && d.altData() != nil || d.Split != nil && d.HasSkeletons() {
		return nil, false
	}
	places := d.StringsWith(name+"\x00", maxPlaces)
	if instances {
		places = append(places, d.StringsWith(name+"<", maxPlaces)...)
	}
	if len(places) >= maxPlaces {
		return nil, false
	}
	all, err := d.Units()
	if err != nil {
		return nil, false // some units cannot be found
	}
	s := nameScan{name: []byte(name), instances: instances, big: d.big}
	if !s.want(places) {
		return nil, false
	}
	d.all(secTypes)
	d.all(secInfo)
	indexes := d.indexesOf(all, &s)
	how := make([]namePatterns, len(all))
	for i, u := range all {
		how[i] = u.namePatterns(tags)
	}
	contents := func(u *Unit) []byte { // nil for a unit in the damaged part of a compressed section
		b := d.secs[u.section()].data
		if u.End-u.base > uint64(len(b)) {
			return nil
		}
		return b[u.First-u.base : u.End-u.base]
	}
	found := inParallel(all, func(i int, u *Unit) bool {
		return how[i].elsewhere || s.mentions(contents(u), &how[i], indexes[i])
	})
	size := uint64(0)
	for i, u := range all {
		if found[i] {
			size += u.End - u.Offset
		}
	}
	if size <= maxSearched {
		found = inParallel(all, func(i int, u *Unit) bool {
			return found[i] && (how[i].elsewhere || s.begins(contents(u), &how[i], indexes[i]))
		})
	}
	for i, u := range all {
		if found[i] {
			units = append(units, u)
		}
	}
	return units, true
}

// maxSearched limits the bytes that are searched for beginnings of entries. If units of more bytes
// mention a name, it is in many units anyway.
const maxSearched = 16 << 20

// inParallel calls ask for each unit that has entries, on all processors.
func inParallel(units []*Unit, ask func(i int, u *Unit) bool) []bool {
	out := make([]bool, len(units))
	var next atomic.Int64
	var wg fault.Group
	for range min(runtime.GOMAXPROCS(0), len(units)) {
		wg.Go(func() {
			for i := int(next.Add(1) - 1); i < len(units); i = int(next.Add(1) - 1) {
				if u := units[i]; u.First < u.End {
					out[i] = ask(i, u)
					u.Release()
				}
			}
		})
	}
	wg.Wait()
	return out
}

// nameScan holds the search patterns: the offsets of strings, and the text itself.
type nameScan struct {
	name      []byte
	instances bool
	big       bool
	filter    [1 << 10]uint64 // set of the low 16 bits of the offsets
	places    []uint32        // ascending
}

// want sets the offsets. It returns false if one does not fit in 4 bytes.
func (s *nameScan) want(places []uint64) bool {
	for _, p := range places {
		if p >= 1<<32 {
			return false
		}
		s.places = append(s.places, uint32(p))
		s.filter[uint16(p)>>6] |= 1 << (p & 63)
	}
	slices.Sort(s.places)
	return true
}

func (s *nameScan) wanted(v uint32) bool {
	if s.filter[uint16(v)>>6]>>(v&63)&1 == 0 {
		return false
	}
	_, ok := slices.BinarySearch(s.places, v)
	return ok
}

// mentions reports whether the unit contains the name anywhere, which is faster than begins.
func (s *nameScan) mentions(b []byte, how *namePatterns, indexes []uint32) bool {
	return len(indexes) > 0 || how.offset && len(s.places) > 0 && s.containsOffset(b) || how.inline && s.containsText(b)
}

// begins reports whether anything in b looks like the beginning of an entry with the name. indexes
// are the indexes of the name's strings in the unit's part of .debug_str_offsets.
func (s *nameScan) begins(b []byte, how *namePatterns, indexes []uint32) bool {
	var low [4]uint64 // set of the first bytes of indexes
	for _, v := range indexes {
		low[v>>6&3] |= 1 << (v & 63)
	}
	for i, c := range b {
		if how.first[c>>6]>>(c&63)&1 == 0 {
			continue
		}
		for k := range how.patterns {
			p := &how.patterns[k]
			if p.code[0] != c || !bytes.HasPrefix(b[i:], p.code) {
				continue
			}
			rest := b[i+len(p.code):]
			if p.indexed && !s.big && len(rest) > 0 && low[rest[0]>>6]>>(rest[0]&63)&1 == 0 {
				continue
			}
			if s.named(rest, p, indexes) {
				return true
			}
		}
	}
	return false
}

// containsOffset reports whether one of the offsets is anywhere in b. For an offset of 8 bytes it
// finds the lower half.
func (s *nameScan) containsOffset(b []byte) bool {
	if s.big {
		for ; len(b) >= 4; b = b[1:] {
			if s.wanted(binary.BigEndian.Uint32(b)) {
				return true
			}
		}
		return false
	}
	for ; len(b) >= 4; b = b[1:] {
		if s.wanted(binary.LittleEndian.Uint32(b)) {
			return true
		}
	}
	return false
}

// containsText reports whether b contains the name itself.
func (s *nameScan) containsText(b []byte) bool {
	for {
		i := bytes.Index(b, s.name)
		if i < 0 || i+len(s.name) >= len(b) {
			return false
		}
		b = b[i+len(s.name):]
		if b[0] == 0 || s.instances && b[0] == '<' {
			return true
		}
	}
}

// named reports whether b begins with attributes that include the name.
func (s *nameScan) named(b []byte, p *namePattern, indexes []uint32) bool {
	r := bytecursor.Cursor{Data: b, Big: s.big}
	if !p.skip(&r) {
		return false
	}
	v := uint64(0)
	switch p.form {
	case form.String:
		if b = b[r.Pos:]; !bytes.HasPrefix(b, s.name) || len(b) == len(s.name) {
			return false
		}
		return b[len(s.name)] == 0 || s.instances && b[len(s.name)] == '<'
	case form.Strp:
		v = r.Offset(p.unit.Is64)
		return r.Err() == nil && v < 1<<32 && s.wanted(uint32(v))
	case form.Strx1:
		v = uint64(r.U8())
	case form.Strx2:
		v = uint64(r.U16())
	case form.Strx3:
		v = uint64(r.U24())
	case form.Strx4:
		v = uint64(r.U32())
	default: // form.Strx, form.GNUStrIndex
		v = r.ULEB()
	}
	if r.Err() != nil || v >= 1<<32 {
		return false
	}
	_, ok := slices.BinarySearch(indexes, uint32(v))
	return ok
}

// indexesOf returns, for each unit, the indexes of the strings in its part of .debug_str_offsets,
// in ascending order.
func (d *Data) indexesOf(units []*Unit, s *nameScan) [][]uint32 {
	out := make([][]uint32, len(units))
	b := d.all(secStrOffsets)
	if len(b) == 0 || len(s.places) == 0 {
		return out
	}
	type part struct {
		base uint64
		is64 bool
		unit int
	}
	parts := make([]part, len(units))
	for i, u := range units {
		parts[i] = part{u.Root().strOffsetsBase, u.Is64, i}
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.base, b.base) })
	for i := 0; i < len(parts); {
		first, k := parts[i], i
		for k < len(parts) && parts[k].base == first.base {
			k++
		}
		end := uint64(len(b))
		if k < len(parts) {
			end = min(end, parts[k].base)
		}
		if first.base < end {
			list := s.indexes(b[first.base:end], first.is64)
			for _, p := range parts[i:k] {
				out[p.unit] = list
			}
		}
		i = k
	}
	return out
}

// indexes returns the indexes of the wanted offsets in a table.
func (s *nameScan) indexes(table []byte, is64 bool) (out []uint32) {
	r := bytecursor.Cursor{Data: table, Big: s.big}
	size := 4
	if is64 {
		size = 8
	}
	for i := uint32(0); r.Left() >= size; i++ {
		if v := r.Offset(is64); v < 1<<32 && s.wanted(uint32(v)) {
			out = append(out, i)
		}
	}
	return out
}
