package machocore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"dbg/arch"
	"dbg/target"
	"dbg/target/corefile"
)

// ErrNotCore is wrapped by Open's error for a file that is not a Mach-O core.
var ErrNotCore = corefile.ErrNotCore

// The required constants of <mach-o/loader.h> and <mach/machine.h>.
const (
	magic32 = 0xfeedface
	magic64 = 0xfeedfacf
	cigam32 = 0xcefaedfe
	cigam64 = 0xcffaedfe

	typeExecute  = 2
	typeCore     = 4
	typeDylib    = 6
	typeDylinker = 7
	typeBundle   = 8

	lcSegment      = 0x1
	lcThread       = 0x4
	lcUnixThread   = 0x5
	lcIDDylib      = 0xd
	lcIDDylinker   = 0xf
	lcSegment64    = 0x19
	lcNote         = 0x31
	lcBuildVersion = 0x32

	cpuI386  = 7
	cpuX8664 = 0x01000007
	cpuARM64 = 0x0100000c
)

// le is the byte order of all supported processors.
var le = binary.LittleEndian

// header is a mach_header with its load commands.
type header struct {
	wide         bool // mach_header_64
	cpu, subtype uint32
	kind         uint32
	commands     []byte // those in the file
	wanted       uint64 // size of the load commands according to the header, in bytes
}

// parseHeader reads the header of a little-endian Mach-O file. The error is a clause to follow
// the file's name.
func parseHeader(b []byte) (h header, err error) {
	if len(b) < 4 {
		return h, errors.New("is not a Mach-O file")
	}
	size := 28
	switch le.Uint32(b) {
	case magic64:
		h.wide, size = true, 32
	case magic32:
	case cigam32, cigam64:
		return h, errors.New("is a Mach-O file for a big-endian processor")
	default:
		return h, errors.New("is not a Mach-O file")
	}
	if len(b) < size {
		return h, errors.New("is a Mach-O file with a truncated header")
	}
	h.cpu, h.subtype, h.kind = le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:])
	h.wanted = uint64(le.Uint32(b[20:]))
	h.commands = cutSome(b, uint64(size), h.wanted)
	return h, nil
}

// each iterates over the load commands. It yields the command and all its bytes. If the rest is
// invalid, the last command is 0.
func (h *header) each() iter.Seq2[uint32, []byte] {
	return func(yield func(uint32, []byte) bool) {
		b := h.commands
		for len(b) >= 8 {
			size := uint64(le.Uint32(b[4:]))
			if size < 8 || size > uint64(len(b)) {
				break
			}
			if !yield(le.Uint32(b), b[:size:size]) {
				return
			}
			b = b[size:]
		}
		if len(b) > 0 {
			yield(0, nil)
		}
	}
}

// arch returns the architecture, or nil if it is not supported.
func (h *header) arch() *arch.Arch {
	switch {
	case h.cpu == cpuX8664 && h.wide:
		return arch.AMD64
	case h.cpu == cpuARM64 && h.wide:
		return arch.ARM64
	case h.cpu == cpuI386 && !h.wide:
		return arch.I386
	}
	return nil
}

// machine returns the name of an unsupported processor.
func (h *header) machine() string {
	names := map[uint32]string{7: "i386", 12: "arm", 18: "ppc", 0x01000012: "ppc64", 0x0200000c: "arm64_32"}
	if n := names[h.cpu]; n != "" {
		return n
	}
	return fmt.Sprintf("cpu type 0x%x", h.cpu)
}

// kindName describes the type of a Mach-O file that is not a core.
func (h *header) kindName() string {
	switch h.kind {
	case 1:
		return "an object file"
	case typeExecute:
		return "a program"
	case typeDylib, typeBundle:
		return "a library"
	case 10:
		return "a dSYM's debug information"
	}
	return fmt.Sprintf("a Mach-O file of type %d", h.kind)
}

// parseSegment reads an LC_SEGMENT or LC_SEGMENT_64.
func parseSegment(cmd uint32, b []byte) (s corefile.Segment, ok bool) {
	var most, prot uint32 // VM_PROT_READ 1, VM_PROT_WRITE 2, VM_PROT_EXECUTE 4
	if cmd == lcSegment64 {
		if len(b) < 72 {
			return s, false
		}
		s = corefile.Segment{Addr: le.Uint64(b[24:]), Size: le.Uint64(b[32:]), Off: le.Uint64(b[40:]), Have: le.Uint64(b[48:])}
		most, prot = le.Uint32(b[56:]), le.Uint32(b[60:])
	} else {
		if len(b) < 56 {
			return s, false
		}
		s = corefile.Segment{Addr: uint64(le.Uint32(b[24:])), Size: uint64(le.Uint32(b[28:])), Off: uint64(le.Uint32(b[32:])), Have: uint64(le.Uint32(b[36:]))}
		most, prot = le.Uint32(b[40:]), le.Uint32(b[44:])
	}
	if prot == 0 { // some writers set only maxprot
		prot = most
	}
	s.Read, s.Write, s.Exec = target.Permit(prot&1 != 0), target.Permit(prot&2 != 0), target.Permit(prot&4 != 0)
	s.Size = min(s.Size, ^uint64(0)-s.Addr) // excludes the last byte of the address space
	s.Have = min(s.Have, s.Size)
	return s, true
}

// cut returns n bytes at off, or false if not all of them exist.
func cut(b []byte, off, n uint64) ([]byte, bool) {
	if off > uint64(len(b)) || n > uint64(len(b))-off {
		return nil, false
	}
	return b[off : off+n : off+n], true
}

// cutSome returns up to n bytes at off.
func cutSome(b []byte, off, n uint64) []byte {
	if off >= uint64(len(b)) {
		return nil
	}
	return b[off : off+min(n, uint64(len(b))-off)]
}
