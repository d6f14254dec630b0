package machocore

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"dbg/image"
	"dbg/target"
	"dbg/target/corefile"
)

// Image is a Mach-O file that the process had loaded.
type Image struct {
	// In a dyld shared cache, segments other than __TEXT are not between Lo and Hi.
	target.Image

	kind     uint32 // MH_EXECUTE and so on, or 0 if unknown
	segments []placedSegment
	inCore   bool // the core has its header and load commands

	local  *image.File // for memory that the core lacks; guarded by Core.lock
	looked bool
}

// placedSegment is a segment of an image in memory.
type placedSegment struct {
	name              string
	lo, hi            uint64
	fileAddr, fileOff uint64
	fileSize          uint64
	read, write, exec bool
	sizeUnknown       bool // hi is a guess
}

// extent is a range of memory that a segment of an image occupies.
type extent struct {
	lo, hi  uint64
	image   *Image
	segment *placedSegment
}

// budget limits the work for a core's images, in bytes of load commands.
const budget = 64 << 20

// maker makes the images of a core.
type maker struct {
	c    *Core
	left int             // remaining budget
	seen map[uint64]bool // addresses of headers
}

// findImages makes the list of images.
func (c *Core) findImages() {
	m := &maker{c: c, left: budget, seen: map[uint64]bool{}}
	list := c.notes.found
	if !c.notes.listed {
		list = append(list, m.fromDyld()...)
	}
	for i := range list {
		m.add(&list[i])
	}
	if m.left <= 0 {
		c.warn("the images' load commands are implausibly long; some were not read")
	}
	c.layOut()
	c.findMain()
}

// add makes the image that a note or dyld lists.
func (m *maker) add(f *found) {
	if f.header != none {
		if m.seen[f.header] {
			return
		}
		m.seen[f.header] = true
	}
	im := &Image{Image: target.Image{Path: f.path, UUID: f.uuid, Header: target.Addr(f.header)}}
	file, kind := m.inCore(f.header)
	switch {
	case file != nil:
		if f.uuid != "" && file.BuildID() != f.uuid {
			m.c.warn("%s: the image at 0x%x has UUID %s, but the core's list has %s", name(im), f.header, orNone(file.BuildID()), f.uuid)
		}
		im.inCore, im.UUID, im.kind = true, file.BuildID(), kind
		if im.Path == "" {
			im.Path = ownName(file)
		}
		im.place(file, file.Slide(), f.segments)
	default:
		local, _ := m.c.openLocal(im, f.header == none)
		if local != nil {
			im.kind = fileType(local)
			if f.header == none && f.slide != none {
				im.Header = target.Addr(uint64(local.HeaderAddr()) + f.slide)
			} else if f.header == none {
				im.Header = target.Addr(local.HeaderAddr()) // its link-time address
			}
			if im.UUID == "" {
				im.UUID = local.BuildID()
			}
			im.place(local, uint64(im.Header)-uint64(local.HeaderAddr()), f.segments)
			local.Close() // opened again when its memory is read
		} else if f.header == none {
			m.c.warn("%s: the core does not contain the image's address, and no file with UUID %s was found", name(im), orNone(f.uuid))
			return
		} else {
			im.placeUnknown(f)
		}
	}
	if im.Path == "" {
		im.Path = name(im)
	}
	m.c.images = append(m.c.images, im)
}

// inCore reads the image whose header is at an address, from the core alone. It returns nil if
// the core does not contain it. kind is its file type.
func (m *maker) inCore(header uint64) (f *image.File, kind uint32) {
	if header == none || m.left <= 0 {
		return nil, 0
	}
	h, err := parseHeader(m.c.base.Some(header, 32))
	if err != nil || h.cpu != m.c.head.cpu || h.kind == typeCore {
		return nil, 0
	}
	m.left -= int(h.wanted) + 64
	if f, err = image.FromMapped("", m.c.readOwn, header); err != nil {
		return nil, 0
	}
	return f, h.kind
}

// readOwn reads memory that the core itself contains.
func (c *Core) readOwn(addr uint64, buf []byte) (int, error) {
	n := 0
	for n < len(buf) {
		got, whole := corefile.CopyMapped(buf[n:], c.base.Some(addr+uint64(n), uint64(len(buf)-n)))
		n += got
		if got == 0 || !whole {
			return n, &target.MemoryError{Addr: target.Addr(addr) + target.Addr(n), Why: "not in the core file"}
		}
	}
	return n, nil
}

// place sets the segments of the image from its file, or from its header in memory. The addresses
// in a note have priority.
func (im *Image) place(f *image.File, slide uint64, noted []placed) {
	im.Slide = slide
	for _, s := range f.Segments() {
		p := placedSegment{name: s.Name, lo: uint64(s.Lo) + slide, fileAddr: uint64(s.Lo), fileOff: s.FileOff, fileSize: s.FileSize,
			read: s.Read, write: s.Write, exec: s.Exec}
		for _, n := range noted {
			if n.name == s.Name {
				p.lo = n.addr
			}
		}
		if p.hi = p.lo + uint64(s.Hi-s.Lo); p.hi > p.lo {
			im.segments = append(im.segments, p)
		}
	}
}

// placeUnknown is place for an image with neither a header nor a file.
func (im *Image) placeUnknown(f *found) {
	if f.slide != none {
		im.Slide = f.slide
	} else {
		im.Slide = f.header
	}
	add := func(n placed) {
		text := n.name == "__TEXT"
		im.segments = append(im.segments, placedSegment{name: n.name, lo: n.addr, fileAddr: n.addr - im.Slide, read: true, exec: text, write: !text, sizeUnknown: true})
	}
	for _, n := range f.segments {
		if n.name != "__PAGEZERO" {
			add(n)
		}
	}
	if !slices.ContainsFunc(im.segments, func(s placedSegment) bool { return s.lo == f.header }) {
		add(placed{"__TEXT", f.header})
	}
}

// layOut sorts the images and computes the memory of each one.
func (c *Core) layOut() {
	slices.SortStableFunc(c.images, func(a, b *Image) int { return cmp.Compare(a.Header, b.Header) })
	var all []extent
	for _, im := range c.images {
		for i := range im.segments {
			all = append(all, extent{im.segments[i].lo, im.segments[i].hi, im, &im.segments[i]})
		}
	}
	slices.SortStableFunc(all, func(a, b extent) int { return cmp.Compare(a.lo, b.lo) })
	for i := range all {
		if e := &all[i]; e.segment.sizeUnknown {
			// Up to the next image, or to the end of contiguous memory in the core.
			const least = 0x1000
			end := e.lo + min(least, none-e.lo)
			if s := c.base.SegmentAt(e.lo); s != nil {
				end = s.End()
			}
			for j := i + 1; j < len(all); j++ {
				if all[j].lo > e.lo {
					end = min(end, all[j].lo)
					break
				}
			}
			e.hi, e.segment.hi = end, end
		}
	}
	// All images of a dyld shared cache share one __LINKEDIT. The first image gets it.
	end := uint64(0)
	c.extents = slices.DeleteFunc(all, func(e extent) bool {
		if e.lo < end || e.hi <= e.lo {
			return true
		}
		end = e.hi
		return false
	})
	var last *Image
	for _, e := range c.extents {
		im := e.image
		switch {
		case e.lo <= uint64(im.Header) && uint64(im.Header) < e.hi:
			im.Lo, im.Hi = target.Addr(e.lo), target.Addr(e.hi)
		case last == im && im.Hi != 0 && e.lo-im.Slide == e.segment.fileAddr:
			im.Hi = target.Addr(e.hi)
		}
		last = im
	}
}

// extentAt returns the segment of an image at an address, or nil.
func (c *Core) extentAt(at uint64) *extent {
	i := sort.Search(len(c.extents), func(i int) bool { return c.extents[i].lo > at }) - 1
	if i < 0 || at >= c.extents[i].hi {
		return nil
	}
	return &c.extents[i]
}

// findMain finds the main program and compares the user's program with it.
func (c *Core) findMain() {
	for _, im := range c.images {
		if im.kind == typeExecute {
			c.main = im
			break
		}
	}
	exe := c.options.Exe
	if exe == "" {
		return
	}
	for _, im := range c.images {
		if f, err := OpenFile(exe, im.UUID, c.arch.Name); err == nil && im.UUID != "" {
			f.Close()
			c.main = im
			if im.Path == name(&Image{kind: typeExecute}) {
				im.Path = exe
			}
			return
		}
	}
	if c.main != nil && c.main.UUID != "" {
		f, err := OpenFile(exe, "", c.arch.Name)
		if err != nil {
			c.warn("%s can't be used: %v", exe, err)
			return
		}
		c.warn("%s is not the program of this core (UUID %s, but the core has %s)", exe, orNone(f.BuildID()), c.main.UUID)
		f.Close()
	}
}

// Exe implements target.Target.
func (c *Core) Exe() string {
	if c.main != nil {
		return c.main.Path
	}
	return c.options.Exe
}

// Images returns the images that have code in memory, by address. The list belongs to the core
// and does not change.
func (c *Core) Images() []*Image {
	return slices.DeleteFunc(slices.Clone(c.images), func(im *Image) bool { return im.Hi == 0 })
}

// ListImages describes the images that have code in memory, by address.
func (c *Core) ListImages() []target.Image {
	var out []target.Image
	for _, im := range c.Images() {
		out = append(out, im.Image)
	}
	return out
}

// OpenListed is OpenImage for an image from ListImages.
func (c *Core) OpenListed(im target.Image) (f *image.File, slide uint64, err error) {
	for _, own := range c.images {
		if own.Header == im.Header && own.Path == im.Path {
			return c.OpenImage(own)
		}
	}
	return nil, 0, fmt.Errorf("%s: the core has no such image at %s", im.Path, im.Header)
}

// Mappings implements target.Target. It returns the core's segments, split where a segment of an
// image begins or ends, with the images' paths, and segments of images that the core does not
// contain.
func (c *Core) Mappings() ([]target.Mapping, error) {
	parts := make([]corefile.Part, len(c.extents))
	for i, e := range c.extents {
		p := corefile.Part{Lo: e.lo, Hi: e.hi, Path: e.image.Path, Offset: e.segment.fileOff}
		if !e.segment.sizeUnknown {
			p.Read, p.Write, p.Exec = target.Permit(e.segment.read), target.Permit(e.segment.write), target.Permit(e.segment.exec)
		}
		parts[i] = p
	}
	return c.base.Mappings(parts), nil
}

// name returns the name of an image for messages.
func name(im *Image) string {
	switch {
	case im.Path != "":
		return im.Path
	case im.kind == typeExecute:
		return "[program]"
	case im.UUID != "":
		return "[image " + im.UUID + "]"
	}
	return fmt.Sprintf("[image at %v]", im.Header)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// fileType returns the type of a Mach-O file, as far as this package uses it.
func fileType(f *image.File) uint32 {
	switch f.Kind() {
	case image.Executable:
		return typeExecute
	case image.Shared:
		return typeDylib
	}
	return 0
}

// ownName returns the name that a library or a dynamic linker gives itself, or "".
func ownName(f *image.File) string {
	for cmd, b := range f.LoadCommands() {
		if (cmd == lcIDDylib || cmd == lcIDDylinker) && len(b) >= 12 {
			return cstring(cutSome(b, uint64(le.Uint32(b[8:])), longestPath))
		}
	}
	return ""
}
