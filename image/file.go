package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"

	"dbg/arch"
	"dbg/image/elfheader"
	"dbg/image/inflate"
	"dbg/image/macho"
	"dbg/image/pe"
)

// Kind is the purpose of a file.
type Kind uint8

const (
	Other       Kind = iota
	Executable       // ET_EXEC, or ET_DYN with an interpreter or DF_1_PIE; MH_EXECUTE
	Shared           // ET_DYN otherwise; MH_DYLIB, MH_BUNDLE, MH_DYLINKER
	Relocatable      // ET_REL; MH_OBJECT
	CoreFile         // ET_CORE; MH_CORE
	Companion        // MH_DSYM: debug information of another file
	KernelPart       // MH_KEXT_BUNDLE, MH_FILESET
)

func (k Kind) String() string {
	return [...]string{"file", "executable", "shared object", "relocatable file", "core file", "dSYM companion file", "kernel extension"}[k]
}

// Segment is a PT_LOAD program header, or an LC_SEGMENT that is mapped.
type Segment struct {
	Name              string // Mach-O only, such as "__TEXT"
	Lo, Hi            Addr   // Hi-Lo is p_memsz
	FileOff, FileSize uint64
	Read, Write, Exec bool
}

// File is one ELF, Mach-O or PE file, or one slice of a fat file.
type File struct {
	path    string
	data    []byte
	mapping *Mapping         // unmapped by Close; data is all or a part of it
	header  elfheader.Header // of a Mach-O file only Wide and Order
	loads   []Segment
	progs   []elfheader.Segment
	sects   []section
	byName  map[string]int // index of the first section with a name

	symbols     []Symbol
	symbolsDone bool
	trouble     []error // why sections can't be inflated
	inflated    inflate.Budget

	macho     *macho.File // of a Mach-O file, else nil
	pe        *pe.File    // of a PE file, else nil
	peMachine uint16      // of a PE file: the view, see setView

	object *object      // set by FromObject, else nil
	mapped *mappedImage // set by FromMapped, else nil
	offset uint64       // of data in the file
}

// Open maps the file and reads its headers. For a fat Mach-O file it opens the slice for the
// processor that dbg runs on, or else the first slice that dbg supports, or else the first. A
// Linux kernel (vmlinuz) or another compressed ELF file is unpacked in memory. The error is an
// *OpenError.
func Open(path string) (*File, error) { return openChosen(path, preferred) }

func openChosen(path string, choose chooser) (*File, error) {
	m, err := Map(path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, data: m.Bytes(), mapping: m}
	if err := f.unpack(); err != nil {
		f.Close()
		return nil, err
	}
	if err := f.parse(true, choose); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// OpenAt opens an ELF file that is stored in another file, such as an uncompressed library in an
// APK. offset is where it begins, in bytes; the method Offset returns it. The error is an
// *OpenError.
func OpenAt(path string, offset uint64) (*File, error) {
	m, err := Map(path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, mapping: m, offset: offset}
	if data := m.Bytes(); offset < uint64(len(data)) {
		f.data = data[offset:]
	}
	if !isELF(f.data) {
		f.Close()
		return nil, &OpenError{Path: path, Reason: UnknownFormat, Detail: fmt.Sprintf("no ELF file begins at offset 0x%x", offset)}
	}
	if err := f.parseELF(true); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// FromMemory reads an image in memory that has the layout of a file, such as the vDSO. The name
// stands for its path. The File keeps the data, which must not change. Section headers outside
// the data are treated as missing. Use FromMapped for an image that a process has mapped, and
// FromObject for a file that a program made for a debugger.
func FromMemory(name string, data []byte) (*File, error) {
	if len(data) == 0 {
		return nil, &OpenError{Path: name, Reason: IsEmpty}
	}
	f := &File{path: name, data: data}
	if err := f.parse(false, preferred); err != nil {
		return nil, err
	}
	return f, nil
}

// Close unmaps the file. Slices that the File returned must not be used any more.
func (f *File) Close() error {
	if f == nil || f.mapping == nil {
		return nil
	}
	m := f.mapping
	f.mapping, f.data = nil, nil
	for i := range f.sects {
		f.sects[i].data, f.sects[i].done = nil, true
	}
	return m.Close()
}

// Path returns the path with which the file was opened.
func (f *File) Path() string { return f.path }

// Offset returns where in the file at Path the image begins, in bytes. It is 0 except for a slice
// of a fat file and after OpenAt.
func (f *File) Offset() uint64 { return f.offset }

// Machine returns the name of the file's processor. For a Mach-O file it is the name that Apple's
// tools use ("x86_64", "arm64e").
func (f *File) Machine() string {
	name, _ := f.machine()
	return name
}

// Arch returns the facts about the file's processor, or nil if dbg does not support it.
func (f *File) Arch() *arch.Arch {
	_, a := f.machine()
	return a
}

func (f *File) machine() (string, *arch.Arch) {
	if f.macho != nil {
		return f.macho.Machine()
	}
	if f.pe != nil {
		if m, ok := peMachines[f.peMachine]; ok {
			return m.name, m.arch
		}
		return fmt.Sprintf("PE machine 0x%x", f.peMachine), nil
	}
	return machineFacts(f.header.Machine, f.header.Wide, f.BigEndian())
}

// CheckArch returns an error that names the processor if it is not supported.
func (f *File) CheckArch() error {
	if f.Arch() != nil {
		return nil
	}
	return &OpenError{Path: f.path, Reason: UnsupportedMachine, Detail: f.Machine()}
}

// Is64 reports whether the file is of class ELFCLASS64 or has a mach_header_64.
func (f *File) Is64() bool { return f.header.Wide }

// BigEndian reports whether the file's data is big-endian.
func (f *File) BigEndian() bool { return f.header.Order == binary.BigEndian }

// Kind returns the purpose of the file. A position-independent executable is an Executable.
func (f *File) Kind() Kind {
	if f.macho != nil {
		return f.machoKind()
	}
	if f.pe != nil {
		return f.peKind()
	}
	switch f.header.Type {
	case elf.ET_EXEC:
		return Executable
	case elf.ET_REL:
		return Relocatable
	case elf.ET_CORE:
		return CoreFile
	case elf.ET_DYN:
		if f.PIE() {
			return Executable
		}
		return Shared
	}
	return Other
}

// PIE reports whether the file is an executable that can be loaded anywhere. In ELF that is an
// ET_DYN file with DF_1_PIE or, from linkers that do not set DF_1_PIE, with an interpreter.
// libc.so.6 has an interpreter and no DF_1_PIE, but it has a DT_SONAME, unlike executables. In
// Mach-O it is an executable with MH_PIE, in PE one with DYNAMIC_BASE.
func (f *File) PIE() bool {
	if f.macho != nil {
		return f.macho.Type == macho.TypeExecute && f.macho.Flags&macho.PIE != 0
	}
	if f.pe != nil {
		return f.peKind() == Executable && f.pe.DLLCharacteristics&pe.DynamicBase != 0
	}
	if f.header.Type != elf.ET_DYN {
		return false
	}
	pie, soname := false, false
	f.dynamic(func(tag elf.DynTag, val uint64) {
		switch {
		case tag == elf.DT_FLAGS_1 && val&uint64(elf.DF_1_PIE) != 0:
			pie = true
		case tag == elf.DT_SONAME:
			soname = true
		}
	})
	return pie || !soname && f.Interp() != ""
}

// Entry returns the entry point, or 0 if there is none.
func (f *File) Entry() Addr { return Addr(f.header.Entry) }

// Segments returns the PT_LOAD segments, or the mapped LC_SEGMENTs (without __PAGEZERO), in file
// order.
func (f *File) Segments() []Segment { return f.loads }

// Interp returns the path of the dynamic linker (PT_INTERP, LC_LOAD_DYLINKER), or "" if there is
// none.
func (f *File) Interp() string {
	if f.macho != nil {
		return f.macho.Interp()
	}
	for _, p := range f.progs {
		if p.Type == elf.PT_INTERP && p.FileSize < 4096 {
			b, _ := f.bytes(p.Off, p.FileSize)
			return cstring(b)
		}
	}
	return ""
}

// ReadAt reads the bytes that the file puts at an address: the contents of its segments, and
// zeros where a segment is larger in memory than in the file. A read beyond the segments is short
// and returns an error. So does a read of contents that a Mach-O file does not have: a dSYM's
// segments without contents, or encrypted pages. For a mapped image (FromMapped) ReadAt reads the
// memory.
func (f *File) ReadAt(addr Addr, buf []byte) (int, error) {
	n := 0
	for n < len(buf) {
		got := 0
		if f.macho != nil && f.macho.Type == macho.TypeDSYM {
			got = f.readSections(addr+Addr(n), buf[n:])
		} else {
			got = f.readSegment(addr+Addr(n), buf[n:])
		}
		if got < 0 {
			return n, fmt.Errorf("%s: the file has no contents for address %v", f.path, addr+Addr(n))
		}
		if got == 0 {
			return n, fmt.Errorf("%s: no segment contains address %v", f.path, addr+Addr(n))
		}
		n += got
	}
	return n, nil
}

// readSegment reads bytes of the segment that contains an address. It returns 0 if there is none, and
// -1 for a part of a Mach-O file without contents.
func (f *File) readSegment(addr Addr, buf []byte) int {
	missing := 0
	if f.macho != nil {
		missing = -1
	}
	for i := range f.loads {
		s := &f.loads[i]
		if addr < s.Lo || addr >= s.Hi {
			continue
		}
		off := uint64(addr - s.Lo)
		if f.mapped != nil {
			n := f.mapped.readMemory(uint64(addr), buf[:min(uint64(len(buf)), uint64(s.Hi-addr))])
			if n == 0 {
				return missing
			}
			return n
		}
		if off < s.FileSize {
			n := min(s.FileSize-off, uint64(len(buf)))
			b, ok := f.bytes(s.FileOff+off, n)
			if !ok || f.macho != nil && f.macho.Encrypted(s.FileOff+off, n) {
				return missing
			}
			return copy(buf, b)
		}
		n := int(min(uint64(s.Hi-addr), uint64(len(buf))))
		clear(buf[:n])
		return n
	}
	return 0
}

// bytes returns n bytes of the file at an offset, or false if not all of them exist.
func (f *File) bytes(off, n uint64) ([]byte, bool) {
	if off > uint64(len(f.data)) || n > uint64(len(f.data))-off {
		return nil, false
	}
	return f.data[off : off+n : off+n], true
}

// dynamic calls fn for each entry of PT_DYNAMIC.
func (f *File) dynamic(fn func(tag elf.DynTag, val uint64)) {
	for _, p := range f.progs {
		if p.Type != elf.PT_DYNAMIC {
			continue
		}
		b, _ := f.bytes(p.Off, p.FileSize)
		word := f.header.WordSize()
		for len(b) >= 2*word {
			tag, val := elf.DynTag(f.header.Word(b)), f.header.Word(b[word:])
			if tag == elf.DT_NULL {
				return
			}
			fn(tag, val)
			b = b[2*word:]
		}
	}
}

// cstring returns a copy of the bytes before the first zero.
func cstring(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
