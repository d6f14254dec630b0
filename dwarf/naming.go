package dwarf

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// mostPlaces bounds how many places of .debug_str are looked for at once.
const mostPlaces = 1 << 12

// UnitsNaming returns the units, by offset, that have a name anywhere, or, with instances, that name with template arguments: each unit in
// which a type, function, variable or constant is called so is among them, and each in which one may have its name from another unit. It goes over the bytes of .debug_info for references to the string, which is far less work
// than over the entries, and can so be wrong about a unit that has the same bytes for another reason. It can't tell, and says so, where strings
// or entries are in other files, or where the text is in too many strings.
func (d *Data) UnitsNaming(name string, instances bool) (units []*Unit, ok bool) {
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
	s := nameScan{name: []byte(name), instances: instances}
	if !s.want(places) {
		return nil, false
	}
	d.all(secTypes)
	d.all(secInfo)
	indexed := d.indexing(all, &s)
	how := make([]nameForms, len(all))
	for i, u := range all {
		how[i] = u.nameForms()
	}
	found := make([]bool, len(all))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(all)) {
		wg.Go(func() {
			for i := int(next.Add(1) - 1); i < len(all); i = int(next.Add(1) - 1) {
				u := all[i]
				found[i] = indexed[i] || how[i]&formsElsewhere != 0
				if u.First >= u.End || found[i] {
					continue
				}
				b := d.secs[u.section()].data[u.First-u.base : u.End-u.base]
				found[i] = how[i]&formsOffset != 0 && len(places) > 0 && s.refers(b, d.big) || how[i]&formsInline != 0 && s.says(b)
				u.Release()
			}
		})
	}
	wg.Wait()
	for i, u := range all {
		if found[i] {
			units = append(units, u)
		}
	}
	return units, true
}

// nameScan is what bytes are searched for: strings' offsets, and the text itself.
type nameScan struct {
	name      []byte
	instances bool
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

// refers reports whether one of the offsets is anywhere in b: of one of 8 bytes its lower half is.
func (s *nameScan) refers(b []byte, big bool) bool {
	if big {
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

// says reports whether the name itself is in b, as DW_FORM_string has it.
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

// indexing says of each unit whether the offsets are in its part of .debug_str_offsets.
func (d *Data) indexing(units []*Unit, s *nameScan) []bool {
	out := make([]bool, len(units))
	b := d.all(secStrOffsets)
	if len(b) == 0 || len(s.places) == 0 {
		return out
	}
	type part struct {
		base uint64
		unit int
	}
	parts := make([]part, len(units))
	for i, u := range units {
		parts[i] = part{u.Root().strOffsetsBase, i}
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.base, b.base) })
	for i := 0; i < len(parts); {
		base, k := parts[i].base, i
		for k < len(parts) && parts[k].base == base {
			k++
		}
		end := uint64(len(b))
		if k < len(parts) {
			end = min(end, parts[k].base)
		}
		if base < end && s.refers(b[base:end], d.big) {
			for _, p := range parts[i:k] {
				out[p.unit] = true
			}
		}
		i = k
	}
	return out
}

// nameForms says how the entries of a unit can have their names.
type nameForms uint8

const (
	formsOffset nameForms = 1 << iota // in .debug_str, by offset
	formsInline
	formsElsewhere // in another unit
)

// nameForms looks at the unit's abbreviations; those that can't be read leave it open.
func (u *Unit) nameForms() (how nameForms) {
	t, err := u.abbrevTable()
	if err != nil {
		return formsOffset | formsInline
	}
	look := func(a *abbrev) {
		for _, at := range a.attrs {
			switch {
			case at.attr == AttrName:
			case at.attr != AttrSpecification && at.attr != AttrAbstractOrigin || a.tag != TagSubprogram && a.tag != TagVariable && a.tag != TagMember:
				continue
			default:
				switch at.form {
				case formRef1, formRef2, formRef4, formRef8, formRefUdata:
				default:
					how |= formsElsewhere
				}
				continue
			}
			switch at.form {
			case formStrx, formStrx1, formStrx2, formStrx3, formStrx4, formGNUStrIndex:
			case formString:
				how |= formsInline
			case formStrp:
				how |= formsOffset
			default:
				how |= formsOffset | formsInline
			}
		}
	}
	for i := range t.dense {
		look(&t.dense[i])
	}
	for _, a := range t.sparse {
		look(a)
	}
	return how
}
