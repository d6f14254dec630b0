package frames

import (
	"errors"
	"fmt"
	"sort"

	"dbg/cfi"
	"dbg/image"
	"dbg/target"
)

// auxVDSO is AT_SYSINFO_EHDR of the auxiliary vector: the address of the kernel's own shared object
// (getauxval(3)).
const auxVDSO = 33

// MappedTarget is the part of a target that an AddressSpace needs; each target.Target implements
// it.
type MappedTarget interface {
	target.Memory
	Mappings() ([]target.Mapping, error)
	Auxv(typ uint64) (uint64, bool)
}

// Image is a mapped object file.
type Image struct {
	Mapped
	Bias        uint64      // process address minus file address
	File, Debug *image.File // Debug is the separate debug file, or nil
	Module      *Module
}

// AddressSpaceOptions configures how an address space finds files.
type AddressSpaceOptions struct {
	// Open opens the file of a mapping, and its separate debug file or nil. The files belong to
	// the caller, who closes them after the AddressSpace. If Open is nil, the AddressSpace opens
	// the file at the mapping's path, without a debug file, and closes it itself.
	Open func(*Mapped) (file, debug *image.File, err error)

	// Cache holds the files that the AddressSpace opens itself. Address spaces with the same cache
	// share the files and their tables. It may be nil.
	Cache *ModuleCache

	// Made is called for each new image, before its first use. It may replace the image's Module. It
	// may be nil.
	Made func(*Image)
}

// AddressSpace is a target's memory with the object files that are mapped in it: the Space that an
// Unwinder needs. It belongs to one goroutine.
type AddressSpace struct {
	target  MappedTarget
	opt     AddressSpaceOptions
	images  []*Image // by ascending address
	maps    []target.Mapping
	files   map[string]*image.File // opened by the AddressSpace itself
	cached  map[string]*cachedFile // the same, with opt.Cache
	version uint64

	compiler cfi.Compiler // shared by the images' tables

	lastImage *Image
	lastMap   *target.Mapping
}

// NewAddressSpace reads a target's memory map and opens the mapped files. It skips a file that
// cannot be opened: its code is unwound without tables.
func NewAddressSpace(t MappedTarget, opt AddressSpaceOptions) (*AddressSpace, error) {
	s := &AddressSpace{target: t, opt: opt, files: map[string]*image.File{}, cached: map[string]*cachedFile{}}
	done := false
	defer func() { // also if a read panics, as those of package remote do to give up
		if !done {
			s.Close()
		}
	}()
	if err := s.Refresh(); err != nil {
		return nil, err
	}
	done = true
	return s, nil
}

// Close closes the files that the AddressSpace has opened itself. The AddressSpace and its images
// must not be used after that.
func (s *AddressSpace) Close() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.Close())
	}
	for _, f := range s.cached {
		errs = append(errs, s.opt.Cache.release(f))
	}
	s.files, s.cached, s.images = nil, nil, nil
	return errors.Join(errs...)
}

// Images returns the images by ascending address. The slice is valid until Refresh.
func (s *AddressSpace) Images() []*Image { return s.images }

// Mappings returns the memory map as of the last Refresh.
func (s *AddressSpace) Mappings() []target.Mapping { return s.maps }

// Refresh reads the memory map again. Images that are still mapped remain the same objects; if more
// of an image is mapped now, its end moves. Walks that are under way must not continue.
func (s *AddressSpace) Refresh() error {
	maps, err := s.target.Mappings()
	if err != nil {
		return fmt.Errorf("reading the memory map: %w", err)
	}
	type key struct {
		path string
		lo   target.Addr
	}
	old := map[key]*Image{}
	for _, im := range s.images {
		old[key{im.Path, im.Lo}] = im
	}
	s.maps, s.images = maps, nil
	s.lastImage, s.lastMap = nil, nil
	s.version++
	lister, _ := s.target.(ImageLister)
	for _, g := range s.mapped(lister) {
		im := old[key{g.Path, g.Lo}]
		if im == nil {
			im = s.newImage(g, lister)
		}
		if im != nil {
			im.Hi = g.Hi
			s.images = append(s.images, im)
		}
	}
	sort.Slice(s.images, func(i, j int) bool { return s.images[i].Lo < s.images[j].Lo })
	return nil
}

// mapped returns the mapped object files.
func (s *AddressSpace) mapped(lister ImageLister) []Mapped {
	if lister != nil {
		return ListedImages(lister)
	}
	list := GroupMappings(s.maps, func(a target.Addr) bool { return IsELFAt(s.target, a) })
	if at, ok := s.target.Auxv(auxVDSO); ok {
		if m := s.Mapping(target.Addr(at)); m != nil && m.Lo == target.Addr(at) && (m.Path == "" || m.Path[0] == '[') {
			list = append(list, Mapped{Path: "[vdso]", Lo: m.Lo, Hi: m.Hi, First: *m, Exec: target.Allowed})
		}
	}
	return list
}

// newImage opens a mapped file. It returns nil if that is not an object file with code, or not
// available.
func (s *AddressSpace) newImage(g Mapped, lister ImageLister) *Image {
	im := &Image{Mapped: g}
	var err error
	ok := true
	switch {
	case lister != nil:
		im.File, im.Bias, err = s.openListed(lister, g.Listed)
	case g.Path == "[vdso]":
		im.File, err = s.openVDSO(&g)
	case g.Exec == target.Denied:
		return nil
	case s.opt.Open != nil:
		im.File, im.Debug, err = s.opt.Open(&im.Mapped)
	default:
		im.File, err = s.openLocal(im)
	}
	if err == nil && lister == nil {
		im.Bias, ok = g.LoadBias(im.File)
	}
	if err != nil || !ok {
		return nil
	}
	im.Module = s.moduleOf(im)
	if s.opt.Made != nil {
		s.opt.Made(im)
	}
	return im
}

// moduleOf makes an image's module. With a cache, it shares the tables of the file's other modules.
func (s *AddressSpace) moduleOf(im *Image) *Module {
	p := Placement{Name: im.Path, Lo: im.Lo, Hi: im.Hi, Bias: im.Bias, Compiler: &s.compiler}
	if f := s.cached[im.key()]; f != nil && f.file == im.File {
		return s.opt.Cache.module(f, p)
	}
	return ModuleAt(im.File, im.Debug, p)
}

// key identifies the file of an image, or the part of an archive.
func (g *Image) key() string { return fmt.Sprintf("%s+%x", g.Path, g.First.Offset) }

func (s *AddressSpace) openLocal(im *Image) (f *image.File, err error) {
	if im.First.Deleted {
		return nil, fmt.Errorf("%s: the file was replaced or removed", im.Path)
	}
	key := im.key()
	if s.opt.Cache != nil {
		c := s.cached[key]
		if c == nil {
			if c, err = s.opt.Cache.open(im.Path, im.First.Offset); err != nil {
				return nil, err
			}
			s.cached[key] = c
		}
		return c.file, nil
	}
	if f := s.files[key]; f != nil {
		return f, nil
	}
	if f, err = openMapped(im.Path, im.First.Offset); err != nil {
		return nil, err
	}
	s.files[key] = f
	return f, nil
}

// openVDSO reads the kernel's own shared object, which exists only in memory.
func (s *AddressSpace) openVDSO(g *Mapped) (*image.File, error) {
	const most = 64 << 10
	data := make([]byte, min(uint64(g.Hi-g.Lo), most))
	n, _ := s.target.ReadMemory(g.Lo, data)
	return image.FromMemory(g.Path, data[:n])
}

func (s *AddressSpace) openListed(l ImageLister, im *target.Image) (*image.File, uint64, error) {
	f, slide, err := l.OpenListed(*im)
	if err == nil {
		s.files[fmt.Sprintf("%s@%x", im.Path, uint64(im.Header))] = f
	}
	return f, slide, err
}

// Forget drops all images, as after execve. Their files stay open.
func (s *AddressSpace) Forget() { s.images, s.lastImage = nil, nil }

// CodeChanged tells unwinders that code outside of files may have changed.
func (s *AddressSpace) CodeChanged() { s.version++ }

// ReadMemory implements target.Memory.
func (s *AddressSpace) ReadMemory(a target.Addr, buf []byte) (int, error) {
	return s.target.ReadMemory(a, buf)
}

// Version implements Versioned.
func (s *AddressSpace) Version() uint64 { return s.version }

// FindModule implements Space.
func (s *AddressSpace) FindModule(pc target.Addr) *Module {
	if im := s.Image(pc); im != nil {
		return im.Module
	}
	return nil
}

// Image returns the image at an address, or nil.
func (s *AddressSpace) Image(a target.Addr) *Image {
	if im := s.lastImage; im != nil && im.Lo <= a && a < im.Hi {
		return im
	}
	i := sort.Search(len(s.images), func(i int) bool { return s.images[i].Hi > a })
	if i == len(s.images) || s.images[i].Lo > a {
		return nil
	}
	s.lastImage = s.images[i]
	return s.images[i]
}

// Executable implements Space. If the memory map has no permissions, the file's segments decide.
func (s *AddressSpace) Executable(a target.Addr) bool {
	m := s.Mapping(a)
	return m != nil && m.Exec != target.Denied || s.Image(a).executable(a)
}

// Mapping returns the mapping at an address, or nil.
func (s *AddressSpace) Mapping(a target.Addr) *target.Mapping {
	if m := s.lastMap; m != nil && m.Lo <= a && a < m.Hi {
		return m
	}
	i := sort.Search(len(s.maps), func(i int) bool { return s.maps[i].Hi > a })
	if i == len(s.maps) || s.maps[i].Lo > a {
		return nil
	}
	s.lastMap = &s.maps[i]
	return s.lastMap
}

// executable reports whether the file has code at an address in the process.
func (im *Image) executable(a target.Addr) bool {
	return im != nil && ExecutableIn(im.File, uint64(a)-im.Bias)
}

// ExecutableIn reports whether a file has code at an address in the file's address space.
func ExecutableIn(f *image.File, a uint64) bool {
	for _, s := range f.Segments() {
		if s.Exec && image.Addr(a) >= s.Lo && image.Addr(a) < s.Hi {
			return true
		}
	}
	return false
}
