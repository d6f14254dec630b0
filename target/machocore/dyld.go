package machocore

import (
	"dbg/image"
	"dbg/target"
	"dbg/target/corefile"
)

// fromDyld lists the images without a note.
func (m *maker) fromDyld() []found {
	c := m.c
	if c.notes.hasMain && c.notes.mainKind == 2 {
		if f, _ := m.inCore(c.notes.main); f != nil {
			if list := c.dyldInfos(f); len(list) > 0 {
				return list
			}
		}
	}
	if c.notes.hasMain && c.notes.mainKind != 2 || len(c.base.Segments()) == 0 {
		return nil // the core of a kernel or a firmware: its images are in other notes
	}
	list, dyld := m.scan()
	for _, f := range dyld {
		if infos := c.dyldInfos(f); len(infos) > 0 {
			return append(infos, found{header: uint64(f.HeaderAddr()) + f.Slide(), slide: none})
		}
	}
	return list
}

// Limits on the search for headers.
const (
	mostPages = 1 << 19 // pages to search
	pageSize  = 4096    // images start at page boundaries; in a dyld shared cache, at those of small pages
)

// scan searches the start of pages for the headers of programs, libraries and dynamic linkers. It
// searches executable memory, where headers are, and all memory if there is no executable memory.
// It returns the images, and separately the dynamic linkers.
func (m *maker) scan() (list []found, dyld []*image.File) {
	pages := 0
	for _, executable := range []bool{true, false} {
		for _, s := range m.c.base.Segments() {
			if executable != (s.Exec == target.Allowed) {
				continue
			}
			first := (pageSize - s.Addr%pageSize) % pageSize
			for off := first; off < s.Have; off += pageSize {
				if pages++; pages > mostPages || len(list) == mostImages {
					m.c.warn("the core has no list of images, and too much memory to search it all; images may be missing")
					return list, dyld
				}
				f, kind := m.imageAt(s.Addr + off)
				if f == nil {
					continue
				}
				if kind == typeDylinker && len(dyld) < 16 {
					dyld = append(dyld, f)
				}
				list = append(list, found{header: s.Addr + off, slide: none})
			}
		}
		if len(list) > 0 {
			break
		}
	}
	return list, dyld
}

// imageAt returns the image that begins at an address, or nil.
func (m *maker) imageAt(at uint64) (*image.File, uint32) {
	var head [16]byte
	if n, whole := corefile.CopyMapped(head[:], m.c.base.Some(at, 16)); n < 16 || !whole {
		return nil, 0
	}
	if magic := le.Uint32(head[:]); magic != magic64 && magic != magic32 || le.Uint32(head[4:]) != m.c.head.cpu {
		return nil, 0
	}
	switch le.Uint32(head[12:]) {
	case typeExecute, typeDylib, typeDylinker, typeBundle:
		return m.inCore(at)
	}
	return nil, 0
}

// dyldInfos reads struct dyld_all_image_infos, which dyld keeps in a separate section: the
// version, the number of images, and the address of the array. Each element has the address of
// the header, the address of the path, and a time.
func (c *Core) dyldInfos(dyld *image.File) []found {
	s, ok := dyld.SectionIn("__DATA", "__all_image_info")
	for _, segment := range []string{"__DATA_DIRTY", "__DATA_CONST", "__AUTH"} {
		if !ok {
			s, ok = dyld.SectionIn(segment, "__all_image_info")
		}
	}
	if !ok {
		return nil
	}
	at := uint64(s.Addr) + dyld.Slide()
	word := uint64(c.arch.PtrSize)
	head := make([]byte, 8+word)
	if _, err := c.readOwn(at, head); err != nil {
		return nil
	}
	count, array := uint64(le.Uint32(head[4:])), c.word(head[8:])
	if count > mostImages || array == 0 {
		return nil
	}
	var out []found
	entry, path := make([]byte, 3*word), make([]byte, longestPath)
	for i := range count {
		if _, err := c.readOwn(array+i*3*word, entry); err != nil {
			c.warn("the core lacks some of dyld's memory: %d of %d images are unknown", count-i, count)
			break
		}
		n, _ := c.readOwn(c.word(entry[word:]), path)
		out = append(out, found{header: c.word(entry), slide: none, path: cstring(path[:n])})
	}
	return out
}

// word reads a word of the program. b must be long enough.
func (c *Core) word(b []byte) uint64 {
	if c.arch.PtrSize == 8 {
		return le.Uint64(b)
	}
	return uint64(le.Uint32(b))
}
