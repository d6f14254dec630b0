package dwarf

// Share prepares the debug information for use by several goroutines at once. Each may then read
// the entries, strings, addresses and ranges of another unit, but must not follow references into
// other units or read line tables. Share reads whole sections where offsets may point anywhere.
func (d *Data) Share() {
	if d.shared {
		return
	}
	d.shared = true
	for id := range numSections {
		switch id {
		case secInfo, secTypes, secAbbrev, secStr, secLineStr, secAddr, secStrOffsets, secRanges, secRngLists:
			d.all(id)
		}
	}
	if alt := d.altData(); alt != nil {
		alt.Share()
	}
}

// ShareUnits is Share for the entries, addresses and ranges of units that end at or before an
// offset, without strings. It inflates compressed unit sections only up to that offset.
func (d *Data) ShareUnits(end uint64) {
	if end >= typesBase {
		d.section(secTypes, end-typesBase)
		end = 0
	}
	d.section(secInfo, end)
	for _, id := range []sectionID{secAbbrev, secAddr, secRanges, secRngLists} {
		d.all(id)
	}
}

// Size returns the size of .debug_info and .debug_types in bytes.
func (d *Data) Size() uint64 { return uint64(len(d.section(secInfo, 0)) + len(d.section(secTypes, 0))) }

// releaser is a Source that can release memory, see image.File.Release.
type releaser interface{ Release(data []byte) }

// release tells the source that a part of a section is not needed soon.
func (d *Data) release(id sectionID, lo, hi uint64) {
	r, ok := d.src.(releaser)
	if s := &d.secs[id]; ok && s.loaded && lo < hi && hi <= uint64(len(s.data)) && hi-lo >= 64<<10 {
		r.Release(s.data[lo:hi])
	}
}

// Release tells the source that a unit's entries, all of which have been read, are not needed soon.
func (u *Unit) Release() { u.Data.release(u.section(), u.Offset-u.base, u.End-u.base) }

// Release tells the source that the parts read so far are not needed soon.
func (d *Data) Release() {
	for _, id := range []sectionID{secInfo, secLine} {
		d.release(id, 0, uint64(len(d.secs[id].data)))
	}
	d.ReleaseStrings()
}

// ReleaseStrings is Release for the strings.
func (d *Data) ReleaseStrings() {
	for _, id := range []sectionID{secStr, secLineStr} {
		d.release(id, 0, uint64(len(d.secs[id].data)))
	}
}
