package module

import (
	"dbg/image"
	"dbg/target"
)

// Mapped is the mapped part of one object file.
type Mapped struct {
	Path   string
	Lo, Hi target.Addr
	First  target.Mapping    // the mapping of the file's beginning, or the lowest one
	Exec   target.Permission // Allowed if a part may be executed; else PermissionUnknown if it is unknown for some part

	// Listed is the image from a target that knows its images, else nil.
	Listed *target.Image

	checked, archive bool // archive: the file does not begin with an ELF header; checked: archive is valid
}

// farMapping is the maximum distance between two mappings of one file. V8 maps a part of its
// program a second time, near the code that it generates.
const farMapping = 1 << 30

// GroupMappings finds the files in a memory map. Anonymous memory between two mappings of a file
// (its bss) does not separate them. Another file does, and so does a second mapping of the file's
// beginning. A file that does not begin with an ELF header may contain several files: there each
// ELF header begins another one. isELF reports whether there is an ELF header at an address.
func GroupMappings(maps []target.Mapping, isELF func(target.Addr) bool) []Mapped {
	var out []Mapped
	for _, m := range maps {
		if m.Path == "" || m.Path[0] != '/' {
			continue
		}
		if n := len(out); n > 0 && out[n-1].continues(m, isELF) {
			g := &out[n-1]
			g.Hi = m.Hi
			if g.Exec != target.Allowed && m.Exec != target.Denied {
				g.Exec = m.Exec
			}
			continue
		}
		out = append(out, Mapped{Path: m.Path, Lo: m.Lo, Hi: m.Hi, First: m, Exec: m.Exec})
	}
	return out
}

// continues reports whether m is a mapping of the same object file.
func (g *Mapped) continues(m target.Mapping, isELF func(target.Addr) bool) bool {
	if g.Path != m.Path || m.Offset == 0 || m.Lo-g.Hi > farMapping {
		return false
	}
	if !g.checked {
		g.checked, g.archive = true, g.First.Offset != 0 || !isELF(g.Lo)
	}
	return !g.archive || !isELF(m.Lo)
}

// LoadBias returns the difference between process and file addresses of the file f. It uses the
// segment at the file offset of the first mapping, and returns false if there is no such segment.
func (g *Mapped) LoadBias(f *image.File) (bias uint64, ok bool) {
	const page = 4096
	for _, s := range f.Segments() {
		if s.FileOff&^(page-1) == (g.First.Offset-f.Offset())&^(page-1) {
			return uint64(g.First.Lo) - uint64(s.Lo)&^(page-1), true
		}
	}
	return 0, false
}

// ImageLister is a target that knows the loaded images, and finds their files itself. For other
// targets the memory map shows the images.
type ImageLister interface {
	ListImages() []target.Image
	OpenListed(target.Image) (f *image.File, slide uint64, err error)
}

// ListedImages is GroupMappings for an ImageLister.
func ListedImages(l ImageLister) []Mapped {
	var out []Mapped
	for _, im := range l.ListImages() {
		out = append(out, Mapped{Path: im.Path, Lo: im.Lo, Hi: im.Hi, Exec: target.Allowed, Listed: &im})
	}
	return out
}

// IsELFAt reports whether there is an ELF header in memory at an address.
func IsELFAt(mem target.Memory, at target.Addr) bool {
	var b [4]byte
	n, _ := mem.ReadMemory(at, b[:])
	return n == 4 && string(b[:]) == "\x7fELF"
}
