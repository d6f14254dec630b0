package dwarf

import (
	"cmp"
	"fmt"
	"slices"
)

// entryError wraps an error of an entry, and records it if it is the unit's first.
func (u *Unit) entryError(off uint64, err error) error {
	err = fmt.Errorf("%s entry at 0x%x: %w", u.sectionName(), off-u.base, err)
	u.firstErr.CompareAndSwap(nil, &err)
	return err
}

// listError wraps an error of the list at an offset of a section, and records it if it is the
// unit's first.
func (u *Unit) listError(id sectionID, off uint64, err error) error {
	err = fmt.Errorf("%s%s list at 0x%x: %w", sectionNames[id], u.Data.suffix, off, err)
	u.firstErr.CompareAndSwap(nil, &err)
	return err
}

func (u *Unit) sectionName() string { return sectionNames[u.section()] + u.Data.suffix }

// unitError wraps an error of the unit header at an offset.
func (d *Data) unitError(off uint64, err error) error {
	id := secInfo
	if off >= typesBase {
		id, off = secTypes, off-typesBase
	}
	return fmt.Errorf("%s%s unit at 0x%x: %w", sectionNames[id], d.suffix, off, err)
}

// maxErrors is the maximum length of the list that Errors returns.
const maxErrors = 8

// Errors returns an error for each part that was requested and could not be read. Each names its
// section and offset. If there are many, the last one gives the number of those omitted.
func (d *Data) Errors() []error {
	if d == nil {
		return nil
	}
	type at struct {
		off uint64
		err error
	}
	var all []at
	d.mu.Lock()
	for off, t := range d.abbrevs {
		if t.err != nil {
			all = append(all, at{off, t.err})
		}
	}
	d.mu.Unlock()
	for off, u := range d.byOffset {
		if e := u.firstErr.Load(); e != nil {
			all = append(all, at{off, *e})
		}
		if u.linesErr != nil {
			all = append(all, at{off, u.linesErr})
		}
	}
	slices.SortFunc(all, func(a, b at) int { return cmp.Or(cmp.Compare(a.off, b.off), cmp.Compare(a.err.Error(), b.err.Error())) })
	all = slices.CompactFunc(all, func(a, b at) bool { return a.err.Error() == b.err.Error() })
	var out []error
	if d.unitsErr != nil {
		out = append(out, d.unitsErr)
	}
	for i, a := range all {
		if len(out) == maxErrors {
			return append(out, fmt.Errorf("%d more errors", len(all)-i))
		}
		out = append(out, a.err)
	}
	return out
}
