package dwarf

import "bytes"

// MentionsName reports whether a name may occur in the debug information: whether its bytes are in
// the sections that contain names. A negative answer is much faster than a walk over all entries; a
// positive answer proves nothing.
func (d *Data) MentionsName(name string) bool { return d.mentions(name, secStr, secInfo, secTypes) }

// MentionsFile is like MentionsName for the last element of a source file's path.
func (d *Data) MentionsFile(base string) bool { return d.mentions(base, secLineStr, secLine, secStr) }

func (d *Data) mentions(name string, ids ...sectionID) bool {
	if d.Alt != nil && d.altData() != nil {
		return true // the strings may be in the other file
	}
	if d.Split != nil && d.HasSkeletons() {
		return true // likewise
	}
	for _, id := range ids {
		if bytes.Contains(d.all(id), []byte(name)) {
			return true
		}
	}
	return false
}

// EachString calls fn for the strings of .debug_str until fn returns false. It does nothing and returns
// false if the section has more than most bytes. The slices alias the section.
func (d *Data) EachString(most int, fn func(s []byte) bool) bool {
	all := d.all(secStr)
	if len(all) > most {
		return false
	}
	for len(all) > 0 {
		n := bytes.IndexByte(all, 0)
		if n < 0 {
			break
		}
		if n > 0 && !fn(all[:n]) {
			break
		}
		all = all[n+1:]
	}
	return true
}
