package pe

import "fmt"

// debugCodeView is the type of a debug directory entry for a CodeView record.
const debugCodeView = 2

// PDB returns what the debug directory tells of the file with debug information: the path that the
// linker recorded, and the build id: the GUID as 32 lower-case digits, and the age in hexadecimal
// without leading zeros. That is the key of symbol servers. Both are "" if there is no record of
// the kind RSDS. MinGW's linker writes one without a path for --build-id.
func (f *File) PDB() (path, id string) {
	dir := f.directories[DebugTable]
	b := f.Bytes(dir.RVA, dir.Size)
	for ; len(b) >= debugEntrySize; b = b[debugEntrySize:] {
		size, off := uint64(u32(b, 16)), uint64(u32(b, 24))
		if u32(b, 12) != debugCodeView || size < 24 || off > uint64(len(f.data)) || size > uint64(len(f.data))-off {
			continue
		}
		r := f.data[off : off+size]
		if string(r[:4]) != "RSDS" {
			continue
		}
		id = fmt.Sprintf("%08x%04x%04x%x%x", u32(r, 4), u16(r, 8), u16(r, 10), r[12:20], u32(r, 20))
		return cstring(r[24:min(len(r), 24+4096)]), id
	}
	return "", ""
}
