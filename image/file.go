package image

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"dbg/arch"
)

// Kind is what an ELF file is for.
type Kind uint8

const (
	Other       Kind = iota
	Executable       // ET_EXEC, or ET_DYN with an interpreter or DF_1_PIE
	Shared           // ET_DYN otherwise
	Relocatable      // ET_REL
	CoreFile         // ET_CORE
)

func (k Kind) String() string {
	return [...]string{"file", "executable", "shared object", "relocatable file", "core file"}[k]
}

// Segment is a PT_LOAD program header.
type Segment struct {
	Lo, Hi            Addr // Hi-Lo is p_memsz
	FileOff, FileSize uint64
	Read, Write, Exec bool
}

// File is one ELF file.
type File struct {
	path   string
	data   []byte
	mapped bool
	header header
	loads  []Segment
	progs  []prog
	sects  []section
	byName map[string]int // index of the first section of a name

	symbols     []Symbol
	symbolsDone bool
	elf         *elf.File // only for sections that are compressed with zstd
}

// Open maps the file and reads its headers. The error is an *OpenError.
func Open(path string) (*File, error) {
	fd, err := os.Open(path)
	if err != nil {
		return nil, openError(path, err)
	}
	defer fd.Close()
	info, err := fd.Stat()
	if err != nil {
		return nil, openError(path, err)
	}
	switch {
	case info.IsDir():
		return nil, &OpenError{Path: path, Reason: IsDirectory}
	case !info.Mode().IsRegular():
		return nil, &OpenError{Path: path, Reason: NotELF, Detail: "it is not a regular file"}
	case info.Size() == 0:
		return nil, &OpenError{Path: path, Reason: IsEmpty}
	case int64(int(info.Size())) != info.Size():
		return nil, &OpenError{Path: path, Reason: Unreadable, Err: errors.New("the file is too large to be mapped")}
	}
	data, err := unix.Mmap(int(fd.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, openError(path, fmt.Errorf("mmap: %w", err))
	}
	f := &File{path: path, data: data, mapped: true}
	if err := f.parse(true); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// FromMemory reads the image of a file that is in memory, such as the vDSO.
// The name stands for its path. The data is kept and must not change. Section
// headers that lie outside the data are taken as missing.
func FromMemory(name string, data []byte) (*File, error) {
	if len(data) == 0 {
		return nil, &OpenError{Path: name, Reason: IsEmpty}
	}
	f := &File{path: name, data: data}
	if err := f.parse(false); err != nil {
		return nil, err
	}
	return f, nil
}

// Close unmaps the file. Slices that came from it may not be used any more.
func (f *File) Close() error {
	if f == nil || !f.mapped {
		return nil
	}
	data := f.data
	f.mapped, f.data = false, nil
	for i := range f.sects {
		f.sects[i].data, f.sects[i].done = nil, true
	}
	return unix.Munmap(data)
}

// Path returns the path that the file was opened by.
func (f *File) Path() string { return f.path }

// Machine returns the name of the processor that the file is for.
func (f *File) Machine() string {
	name, _ := machineFacts(f.header.machine, f.header.is64, f.header.big)
	return name
}

// Arch returns the facts about the file's processor, nil if dbg does not
// support it.
func (f *File) Arch() *arch.Arch {
	_, a := machineFacts(f.header.machine, f.header.is64, f.header.big)
	return a
}

// CheckArch returns an error that names the processor if it is not supported.
func (f *File) CheckArch() error {
	if f.Arch() != nil {
		return nil
	}
	return &OpenError{Path: f.path, Reason: UnsupportedMachine, Detail: f.Machine()}
}

// Is64 reports whether the file is of class ELFCLASS64.
func (f *File) Is64() bool { return f.header.is64 }

// BigEndian reports whether the file's data is big-endian.
func (f *File) BigEndian() bool { return f.header.big }

// Kind returns what the file is for. A position-independent executable is an
// Executable.
func (f *File) Kind() Kind {
	switch f.header.typ {
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

// PIE reports whether the file is an executable that can be loaded anywhere:
// ET_DYN with DF_1_PIE, or, from linkers that do not set it, with an
// interpreter. libc.so.6 has an interpreter and no DF_1_PIE; it has a
// DT_SONAME, which an executable has not.
func (f *File) PIE() bool {
	if f.header.typ != elf.ET_DYN {
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

// Entry returns the entry point, 0 if there is none.
func (f *File) Entry() Addr { return Addr(f.header.entry) }

// Segments returns the PT_LOAD segments in the order of the file.
func (f *File) Segments() []Segment { return f.loads }

// Interp returns the path of the dynamic linker (PT_INTERP), "" if there is
// none.
func (f *File) Interp() string {
	for _, p := range f.progs {
		if p.typ == elf.PT_INTERP && p.filesz < 4096 {
			b, _ := f.bytes(p.off, p.filesz)
			return cstring(b)
		}
	}
	return ""
}

// ReadAt reads the bytes that the file puts at an address: the contents of
// its PT_LOAD segments, and zeros where a segment is larger in memory than in
// the file. A read that leaves the segments is short and has an error.
func (f *File) ReadAt(addr Addr, buf []byte) (int, error) {
	n := 0
	for n < len(buf) {
		got := f.readSegment(addr+Addr(n), buf[n:])
		if got == 0 {
			return n, fmt.Errorf("%s: no segment has address %v", f.path, addr+Addr(n))
		}
		n += got
	}
	return n, nil
}

func (f *File) readSegment(addr Addr, buf []byte) int {
	for i := range f.loads {
		s := &f.loads[i]
		if addr < s.Lo || addr >= s.Hi {
			continue
		}
		off := uint64(addr - s.Lo)
		if off < s.FileSize {
			b, _ := f.bytes(s.FileOff+off, min(s.FileSize-off, uint64(len(buf))))
			return copy(buf, b)
		}
		n := int(min(uint64(s.Hi-addr), uint64(len(buf))))
		clear(buf[:n])
		return n
	}
	return 0
}

// bytes returns n bytes of the file at an offset, false if they are not all
// there.
func (f *File) bytes(off, n uint64) ([]byte, bool) {
	if off > uint64(len(f.data)) || n > uint64(len(f.data))-off {
		return nil, false
	}
	return f.data[off : off+n : off+n], true
}

// dynamic calls fn for each entry of PT_DYNAMIC.
func (f *File) dynamic(fn func(tag elf.DynTag, val uint64)) {
	for _, p := range f.progs {
		if p.typ != elf.PT_DYNAMIC {
			continue
		}
		b, _ := f.bytes(p.off, p.filesz)
		word := f.header.wordSize()
		for len(b) >= 2*word {
			tag, val := elf.DynTag(f.header.word(b)), f.header.word(b[word:])
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
