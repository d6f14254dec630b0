package dwarf

// Share makes the debug information ready to be read by several goroutines at once: each of them another unit's entries, strings,
// addresses and ranges, but nothing that leads into other units and no line tables. All sections of which it is not known
// where in them something is are read whole.
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

// ShareUnits is Share for the entries, addresses and ranges of units that end at an offset or before, without strings. Of compressed sections it
// inflates no more than that.
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

// Size is how many bytes .debug_info and .debug_types have.
func (d *Data) Size() uint64 { return uint64(len(d.section(secInfo, 0)) + len(d.section(secTypes, 0))) }

// releaser is a Source that can give memory back, see image.File.Release.
type releaser interface{ Release(data []byte) }

// release says that a part of a section is not needed soon.
func (d *Data) release(id sectionID, lo, hi uint64) {
	r, ok := d.src.(releaser)
	if s := &d.secs[id]; ok && s.loaded && lo < hi && hi <= uint64(len(s.data)) && hi-lo >= 64<<10 {
		r.Release(s.data[lo:hi])
	}
}

// Release says that a unit's entries, all of which have been gone over, are not needed soon.
func (u *Unit) Release() { u.Data.release(u.section(), u.Offset-u.base, u.End-u.base) }

// Release says that what has been read so far is not needed soon.
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
