package frames

import (
	"dbg/arch"
	"dbg/frames/module"
	"dbg/image"
	"dbg/registry"
	"dbg/target"
)

// The types of package module, which a program needs to make an address space of its own, have
// names here too.
type (
	// Module is the unwinder's information about one mapped file. Several goroutines may use it.
	Module = module.Module

	// Contents holds the sections and properties of a file from which a Module is made.
	Contents = module.Contents

	// Placement is the place of a module in a process.
	Placement = module.Placement

	// Mapped is the mapped part of one object file.
	Mapped = module.Mapped

	// ImageLister is a target that knows the loaded images, and finds their files itself.
	ImageLister = module.ImageLister

	// Section holds a section's bytes and its address in the file's address space.
	Section = module.Section

	// NamedSection is a section and its name.
	NamedSection = module.NamedSection

	// Range is a half-open range of addresses.
	Range = module.Range
)

// NewModule makes a module of sections that come from elsewhere than a file, or a variant of
// another module's contents.
func NewModule(c Contents) *Module { return module.New(c) }

// ModuleAt makes the module of a file that is mapped. debug is its separate debug file, or nil. The
// module is valid as long as the files are open.
func ModuleAt(f, debug *image.File, p Placement) *Module { return module.At(f, debug, p) }

// ModuleOf makes the module of a file with the file's own addresses.
func ModuleOf(f, debug *image.File) *Module { return module.Of(f, debug) }

// ModuleOfJIT makes a module from a symbol file that a program made for code in its memory: see
// module.OfJIT.
func ModuleOfJIT(f *image.File, p Placement) *Module { return module.OfJIT(f, p) }

// ModuleOfRegistered makes a module from an entry of libunwind's list: see module.OfRegistered.
func ModuleOfRegistered(c module.Registration) (*Module, error) { return module.OfRegistered(c) }

// ModuleOfRegisteredFrames makes a module from what a program gave to __register_frame: see
// module.OfRegisteredFrames.
func ModuleOfRegisteredFrames(a *arch.Arch, mem target.Memory, e registry.Entry) (*Module, []module.Range, error) {
	return module.OfRegisteredFrames(a, mem, e)
}

// ContentsAt returns the contents from which ModuleAt makes a module, to make variants of it.
func ContentsAt(f, debug *image.File, p Placement) Contents { return module.ContentsAt(f, debug, p) }

// GroupMappings finds the files in a memory map: see module.GroupMappings. isELF reports whether
// there is an ELF header at an address, as IsELFAt does.
func GroupMappings(maps []target.Mapping, isELF func(target.Addr) bool) []Mapped {
	return module.GroupMappings(maps, isELF)
}

// ListedImages is GroupMappings for an ImageLister.
func ListedImages(l ImageLister) []Mapped { return module.ListedImages(l) }

// IsELFAt reports whether there is an ELF header in memory at an address.
func IsELFAt(mem target.Memory, at target.Addr) bool { return module.IsELFAt(mem, at) }
