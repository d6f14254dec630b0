package dwarf

import (
	"errors"
	"fmt"
	"sync"

	"dbg/dwarf/form"
	"dbg/internal/bytecursor"
)

// abbrev is an abbreviation declaration (section 7.5.3).
type abbrev struct {
	tag      Tag
	children bool
	attrs    []attrSpec
}

type attrSpec struct {
	attr     Attr
	form     form.Form
	implicit int64 // the value of DW_FORM_implicit_const
}

// abbrevTable maps codes to declarations. Compilers number declarations from 1 without gaps; the
// map is for other producers.
type abbrevTable struct {
	dense  []abbrev // index 0 holds code 1
	sparse map[uint64]*abbrev

	err     error // set if the table is unreadable; it has no declarations then
	mu      sync.Mutex
	layouts map[form.Sizes][]layout
}

func (t *abbrevTable) find(code uint64) *abbrev {
	if code-1 < uint64(len(t.dense)) {
		return &t.dense[code-1]
	}
	return t.sparse[code]
}

// abbrevTable returns the unit's abbreviation table. Units share tables, so Data caches them.
func (u *Unit) abbrevTable() (*abbrevTable, error) {
	if u.table != nil {
		return u.table, nil
	}
	d := u.Data
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.abbrevs[u.abbrevOff]
	if t == nil {
		t = d.readAbbrevs(u.abbrevOff)
		d.abbrevs[u.abbrevOff] = t
	}
	if t.err != nil {
		return nil, t.err
	}
	u.table = t
	return t, nil
}

// readAbbrevs reads the table at an offset.
func (d *Data) readAbbrevs(off uint64) *abbrevTable {
	fail := func(err error) *abbrevTable {
		return &abbrevTable{err: fmt.Errorf("%s%s table at 0x%x: %w", sectionNames[secAbbrev], d.suffix, off, err)}
	}
	// The length of a table is not stored, so try increasing parts of the section.
	for n := uint64(8 << 10); ; n *= 8 {
		r, err := d.at(secAbbrev, off, n)
		if err != nil {
			return fail(err)
		}
		// Units share tables, or have their own. In a corrupt file tables may begin at every byte
		// of another one.
		size := uint64(len(r.Data))
		if d.abbrevBytes > 4*size+1<<20 {
			return fail(errors.New("tables overlap too often"))
		}
		if n < size-off {
			r.Data = r.Data[:off+n]
		}
		t := parseAbbrevs(&r)
		d.abbrevBytes += uint64(r.Pos) - off
		if r.Err() == nil {
			return t
		}
		if !errors.Is(r.Err(), bytecursor.ErrCutShort) || uint64(len(r.Data)) == size {
			return fail(r.Err())
		}
	}
}

// maxAttrs limits the attributes of one declaration. Some forms take no bytes in an entry, so the
// entry's size is not a limit. Compilers use about twenty.
const maxAttrs = 512

func parseAbbrevs(r *bytecursor.Cursor) *abbrevTable {
	t := &abbrevTable{}
	for r.Err() == nil {
		start := r.Pos
		code := r.ULEB()
		if code == 0 {
			break
		}
		a := abbrev{tag: Tag(r.ULEB()), children: r.U8() != 0}
		for r.Err() == nil {
			s := attrSpec{attr: Attr(r.ULEB()), form: form.Form(r.ULEB())}
			if s.form == form.ImplicitConst {
				s.implicit = r.SLEB()
			}
			if s.attr == 0 && s.form == 0 {
				break
			}
			if len(a.attrs) == maxAttrs {
				r.Malformed(start, "an abbreviation with too many attributes")
			}
			a.attrs = append(a.attrs, s)
		}
		if code == uint64(len(t.dense))+1 {
			t.dense = append(t.dense, a)
		} else {
			if t.sparse == nil {
				t.sparse = map[uint64]*abbrev{}
			}
			t.sparse[code] = &a
		}
	}
	return t
}
