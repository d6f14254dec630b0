package nameindex

import (
	"dbg/dwarf"
	"encoding/binary"
	"errors"
	"fmt"

	"dbg/dwarf/form"
	"dbg/internal/bytecursor"
)

const section = ".debug_names"

// Table is one name index of .debug_names (section 6.1.1): it maps names to the units and
// entries that have them. It is searched in place; only its abbreviations are parsed.
type Table struct {
	// Producer is the augmentation string: "LLVM0700", "GDB".
	Producer string

	d       *dwarf.Data
	off     uint64 // offset of the header in the section
	b       []byte // the whole index
	is64    bool
	units   uint32 // compile units
	locals  uint32 // type units in this file
	foreign uint32 // type units in others, by signature
	buckets uint32
	names   uint32

	// Offsets of the parts in b.
	unitsAt, localsAt, foreignAt, bucketsAt, hashesAt, stringsAt, entriesAt, poolAt uint64

	abbrevs map[uint64]abbrev
}

// abbrev is an abbreviation for entries of a name index.
type abbrev struct {
	tag   dwarf.Tag
	attrs []attr
}

type attr struct {
	index uint64 // DW_IDX_
	form  form.Form
}

// The index attributes (table 7.23).
const (
	idxCompileUnit = 1
	idxTypeUnit    = 2
	idxDieOffset   = 3
	idxParent      = 4
	idxTypeHash    = 5
)

// Limits on abbreviations: an index has a few for each tag.
const (
	maxAbbrevs = 1 << 14
	maxAttrs   = 64
)

// Tables returns the name indexes of .debug_names, or nil if the section is missing. If an index is
// malformed, it returns those before it, and an error. They are valid as long as d.
func Tables(d *dwarf.Data) ([]*Table, error) {
	all := d.Section(section)
	var out []*Table
	for off := uint64(0); off < uint64(len(all)); {
		t, err := readTable(d, all[off:])
		if err != nil {
			return out, fmt.Errorf("%s index at 0x%x: %w", section, off, err)
		}
		t.off = off
		if off += uint64(len(t.b)); t.names > 0 || t.units > 0 {
			out = append(out, t)
		}
	}
	return out, nil
}

// readTable reads a header (section 6.1.1.4.1).
func readTable(d *dwarf.Data, b []byte) (*Table, error) {
	r := bytecursor.Cursor{Data: b, Big: d.BigEndian()}
	length, is64 := r.InitialLength()
	if r.Err() == nil && length > uint64(r.Left()) {
		return nil, fmt.Errorf("length %d exceeds the section", length)
	}
	if r.Err() != nil {
		return nil, r.Err()
	}
	r.Data = b[:r.Pos+int(length)]
	t := &Table{d: d, b: r.Data, is64: is64}
	if version := r.U16(); r.Err() == nil && version != 5 {
		return nil, fmt.Errorf("unsupported version %d", version)
	}
	r.U16() // padding
	t.units, t.locals, t.foreign = r.U32(), r.U32(), r.U32()
	t.buckets, t.names = r.U32(), r.U32()
	abbrevs, augmentation := r.U32(), r.U32()
	if text := r.Block(uint64(augmentation)); len(text) <= 64 {
		for len(text) > 0 && text[len(text)-1] == 0 {
			text = text[:len(text)-1]
		}
		t.Producer = string(text)
	}
	// The size may or may not include the padding.
	if pad := -augmentation & 3; pad != 0 {
		r.Block(uint64(pad))
	}
	word := uint64(4)
	if is64 {
		word = 8
	}
	part := func(at *uint64, n uint32, size uint64) {
		*at = uint64(r.Pos)
		r.Block(uint64(n) * size)
	}
	part(&t.unitsAt, t.units, word)
	part(&t.localsAt, t.locals, word)
	part(&t.foreignAt, t.foreign, 8)
	part(&t.bucketsAt, t.buckets, 4)
	hashes := t.names
	if t.buckets == 0 {
		hashes = 0 // section 6.1.1.4.6
	}
	part(&t.hashesAt, hashes, 4)
	part(&t.stringsAt, t.names, word)
	part(&t.entriesAt, t.names, word)
	table := bytecursor.Cursor{Data: r.Block(uint64(abbrevs)), Big: d.BigEndian()}
	t.poolAt = uint64(r.Pos)
	if r.Err() != nil {
		return nil, r.Err()
	}
	return t, t.readAbbrevs(&table)
}

// readAbbrevs reads the abbreviations table (section 6.1.1.4.7).
func (t *Table) readAbbrevs(r *bytecursor.Cursor) error {
	t.abbrevs = map[uint64]abbrev{}
	for r.Left() > 0 {
		code := r.ULEB()
		if code == 0 {
			break
		}
		a := abbrev{tag: dwarf.Tag(r.ULEB())}
		for {
			at := attr{r.ULEB(), form.Form(r.ULEB())}
			if r.Err() != nil || at == (attr{}) {
				break
			}
			if len(a.attrs) == maxAttrs {
				return errors.New("too many attributes in an abbreviation")
			}
			a.attrs = append(a.attrs, at)
		}
		if len(t.abbrevs) == maxAbbrevs {
			return errors.New("too many abbreviations")
		}
		if r.Err() == nil {
			t.abbrevs[code] = a
		}
	}
	return r.Err()
}

// word reads element i of an array in b whose elements have n bytes.
func (t *Table) word(array uint64, i uint32, n uint64) uint64 {
	b := t.b[array+uint64(i)*n:]
	switch {
	case n == 8 && t.d.BigEndian():
		return binary.BigEndian.Uint64(b)
	case n == 8:
		return binary.LittleEndian.Uint64(b)
	case t.d.BigEndian():
		return uint64(binary.BigEndian.Uint32(b))
	}
	return uint64(binary.LittleEndian.Uint32(b))
}

// offset reads element i of an array of offsets.
func (t *Table) offset(array uint64, i uint32) uint64 {
	if t.is64 {
		return t.word(array, i, 8)
	}
	return t.word(array, i, 4)
}

// Units calls fn for the offset of each unit that the index covers: the compile units, and the type
// units of this file.
func (t *Table) Units(fn func(off uint64)) {
	for i := range t.units {
		fn(t.offset(t.unitsAt, i))
	}
	for i := range t.locals {
		fn(t.offset(t.localsAt, i))
	}
}

// Size returns the size of the index in bytes.
func (t *Table) Size() uint64 { return uint64(len(t.b)) }

// NumNames returns the number of names; they are numbered from 0.
func (t *Table) NumNames() uint32 { return t.names }

// String returns the offset of name i in .debug_str.
func (t *Table) String(i uint32) uint64 {
	if i >= t.names {
		return 1<<64 - 1
	}
	return t.offset(t.stringsAt, i)
}

// Find calls fn for the number of each name that equals name exactly, until fn returns false. It
// uses the hash table, if there is one and the name is ASCII: beyond ASCII, producers disagree on
// case folding.
func (t *Table) Find(name string, fn func(i uint32) bool) {
	same := func(i uint32) bool { return string(t.d.StringAt(t.String(i))) == name }
	h, ascii := nameHash(name)
	if t.buckets == 0 || !ascii {
		for i := range t.names {
			if same(i) && !fn(i) {
				return
			}
		}
		return
	}
	bucket := h % t.buckets
	i := uint32(t.word(t.bucketsAt, bucket, 4)) // counted from 1
	for i--; i < t.names; i++ {
		got := uint32(t.word(t.hashesAt, i, 4))
		if got%t.buckets != bucket || got == h && same(i) && !fn(i) {
			return
		}
	}
}

// nameHash returns the hash of section 7.33, or false if the name is not ASCII.
func nameHash(name string) (uint32, bool) {
	h := uint32(5381)
	for i := range len(name) {
		c := name[i]
		if c >= 0x80 {
			return 0, false
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		h = h*33 + uint32(c)
	}
	return h, true
}
