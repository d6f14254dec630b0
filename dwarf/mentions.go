package dwarf

import "bytes"

// MentionsName reports whether a name can be in the debug information at all:
// whether the bytes are in the sections that have names. It says no far sooner
// than a walk over all entries would; a yes means nothing.
func (d *Data) MentionsName(name string) bool { return d.mentions(name, secStr, secInfo, secTypes) }

// MentionsFile is MentionsName for the last element of a source file's path.
func (d *Data) MentionsFile(base string) bool { return d.mentions(base, secLineStr, secLine, secStr) }

func (d *Data) mentions(name string, ids ...sectionID) bool {
	if d.Alt != nil && d.altData() != nil {
		return true // its strings are elsewhere
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
