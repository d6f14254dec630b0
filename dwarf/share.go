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

// Size is how many bytes .debug_info and .debug_types have.
func (d *Data) Size() uint64 { return uint64(len(d.section(secInfo, 0)) + len(d.section(secTypes, 0))) }
