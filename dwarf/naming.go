package dwarf

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"runtime"
	"slices"
	"sync/atomic"

	"dbg/internal/bytecursor"
	"dbg/internal/fault"
)

// mostPlaces bounds how many places of .debug_str are looked for at once.
const mostPlaces = 1 << 12

// UnitsNaming returns the units that may have an entry of some tags with a name, or, with instances, with that name and template arguments; those
// are among them too whose entries may have names from other units. It goes over the bytes, not the entries: for what looks like the beginning of
// an entry with the name. That is far less work, and can be wrong about a unit that has such bytes for another reason. It can't tell, and says so,
// where strings or entries are in other files, or where the text is in too many strings.
func (d *Data) UnitsNaming(name string, instances bool, tags func(Tag) bool) (units []*Unit, ok bool) {
	if name == "" || d.Alt != nil && d.altData() != nil || d.Split != nil && d.HasSkeletons() {
		return nil, false
	}
	places := d.StringsWith(name+"\x00", mostPlaces)
	if instances {
		places = append(places, d.StringsWith(name+"<", mostPlaces)...)
	}
	if len(places) >= mostPlaces {
		return nil, false
	}
	all, err := d.Units()
	if err != nil {
		return nil, false // some can't be found
	}
	s := nameScan{name: []byte(name), instances: instances, big: d.big}
	if !s.want(places) {
		return nil, false
	}
	d.all(secTypes)
	d.all(secInfo)
	indexes := d.indexesOf(all, &s)
	how := make([]nameForms, len(all))
	for i, u := range all {
		how[i] = u.nameForms(tags)
	}
	contents := func(u *Unit) []byte { // nil of a unit in the damaged part of a compressed section
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
	if size <= mostLooked {
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

// mostLooked bounds the bytes in which the beginnings of entries are looked for: a name that is mentioned in more is in many units anyway.
const mostLooked = 16 << 20

// inParallel asks of each unit that has entries, on all processors.
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

// nameScan is what bytes are searched for: strings' offsets, and the text itself.
type nameScan struct {
	name      []byte
	instances bool
	big       bool
	filter    [1 << 10]uint64 // of the low 16 bits of offsets
	places    []uint32        // ascending
}

// want makes the offsets ready; false if they don't fit 4 bytes.
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

// mentions reports whether the name is in a unit at all, which is seen sooner than begins.
func (s *nameScan) mentions(b []byte, how *nameForms, indexes []uint32) bool {
	return len(indexes) > 0 || how.offset && len(s.places) > 0 && s.refers(b) || how.inline && s.says(b)
}

// begins reports whether anything in b looks like the beginning of an entry with the name. indexes are those of the strings in the unit's part of
// .debug_str_offsets.
func (s *nameScan) begins(b []byte, how *nameForms, indexes []uint32) bool {
	var low [4]uint64 // of the first bytes of indexes
	for _, v := range indexes {
		low[v>>6&3] |= 1 << (v & 63)
	}
	for i, c := range b {
		if how.first[c>>6]>>(c&63)&1 == 0 {
			continue
		}
		for k := range how.begin {
			p := &how.begin[k]
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

// refers reports whether one of the offsets is anywhere in b: of one of 8 bytes its lower half is.
func (s *nameScan) refers(b []byte) bool {
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

// says reports whether the name itself is in b.
func (s *nameScan) says(b []byte) bool {
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

// named reports whether attributes are in b of which the name is one.
func (s *nameScan) named(b []byte, p *nameBegin, indexes []uint32) bool {
	r := bytecursor.Cursor{Data: b, Big: s.big}
	if !p.pass(&r) {
		return false
	}
	v := uint64(0)
	switch p.form {
	case formString:
		if b = b[r.Pos:]; !bytes.HasPrefix(b, s.name) || len(b) == len(s.name) {
			return false
		}
		return b[len(s.name)] == 0 || s.instances && b[len(s.name)] == '<'
	case formStrp:
		v = r.Offset(p.unit.Is64)
		return r.Err() == nil && v < 1<<32 && s.wanted(uint32(v))
	case formStrx1:
		v = uint64(r.U8())
	case formStrx2:
		v = uint64(r.U16())
	case formStrx3:
		v = uint64(r.U24())
	case formStrx4:
		v = uint64(r.U32())
	default: // formStrx, formGNUStrIndex
		v = r.ULEB()
	}
	if r.Err() != nil || v >= 1<<32 {
		return false
	}
	_, ok := slices.BinarySearch(indexes, uint32(v))
	return ok
}

// indexesOf gives, for each unit, the indexes of the strings in its part of .debug_str_offsets, ascending.
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

// indexes gives which offsets of a table are wanted.
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
