package image

import (
	"debug/elf"
	"encoding/hex"
)

// BuildID returns the GNU build id in hexadecimal, or "" if there is none. It is in a PT_NOTE
// segment, or in a section if a debug file's segments are empty. For a Mach-O file it is the UUID
// (LC_UUID), as 32 lower-case digits.
func (f *File) BuildID() string {
	if f.macho != nil {
		return f.macho.uuid
	}
	for _, p := range f.progs {
		if p.typ == elf.PT_NOTE {
			if b, ok := f.bytes(p.off, p.filesz); ok {
				if id := f.findBuildID(b, p.palign); id != "" {
					return id
				}
			}
		}
	}
	for i := range f.sects {
		if f.sects[i].typ == elf.SHT_NOTE {
			if id := f.findBuildID(f.section(i).Data, 4); id != "" {
				return id
			}
		}
	}
	return ""
}

const noteGNUBuildID = 3 // NT_GNU_BUILD_ID

// findBuildID walks notes (System V ABI, chapter 5, "Note Section"). align is
// 4, or 8 in segments with properties, where the entries are padded to 8.
func (f *File) findBuildID(b []byte, align uint64) string {
	if align != 8 {
		align = 4
	}
	pad := func(n uint64) uint64 { return (n + align - 1) &^ (align - 1) }
	for len(b) >= 12 {
		h := f.header.order
		namesz, descsz, typ := uint64(h.Uint32(b)), uint64(h.Uint32(b[4:])), h.Uint32(b[8:])
		desc := pad(12 + namesz)
		end := pad(desc + descsz)
		if desc+descsz > uint64(len(b)) {
			return ""
		}
		if typ == noteGNUBuildID && namesz == 4 && string(b[12:16]) == "GNU\x00" && descsz > 0 && descsz <= 64 {
			return hex.EncodeToString(b[desc : desc+descsz])
		}
		b = b[min(end, uint64(len(b))):]
	}
	return ""
}
