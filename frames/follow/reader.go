package follow

import (
	"dbg/arch"
	"dbg/target"
)

// Memory is the process's memory, with the permissions of its mappings.
type Memory interface {
	target.Memory
	// Executable reports whether addr is in a mapping that can be executed.
	Executable(addr target.Addr) bool
}

// File is a mapped file that contains code. Its code does not change.
type File interface {
	// CodeAt returns n bytes of the file's code at an address in the file, or nil.
	CodeAt(addr uint64, n int) []byte
	// Bias returns process address minus file address.
	Bias() uint64
}

// Reader reads code: from a file, as far as that contains it, else from the process.
type Reader struct {
	Arch   *arch.Arch
	Memory Memory
	File   File // nil for code that is in no file
}

// Read returns code at pc, an address in the process: at most len(buf) bytes, fewer at the end of a
// section or of a mapping. The result is in buf, or belongs to the file.
func (r *Reader) Read(pc uint64, buf []byte) []byte {
	if r.File != nil {
		for n := len(buf); n >= 16; n /= 4 {
			if b := r.File.CodeAt(pc-r.File.Bias(), n); b != nil {
				return b
			}
		}
	}
	n, _ := r.Memory.ReadMemory(target.Addr(pc), buf)
	return buf[:max(0, min(n, len(buf)))]
}

// Slot returns the address in a slot of the global offset table, or 0 if it is unreadable.
func (r *Reader) Slot(at target.Addr) target.Addr {
	var b [8]byte
	size := r.Arch.PtrSize
	if n, _ := r.Memory.ReadMemory(at, b[:size]); n < size {
		return 0
	}
	if size == 4 {
		return target.Addr(r.Arch.ByteOrder.Uint32(b[:]))
	}
	return target.Addr(r.Arch.ByteOrder.Uint64(b[:]))
}

// omitted reports whether code begins with zeros, which real code does not: a core or a file omits
// its bytes. They would decode as two additions.
func omitted(code []byte) bool {
	return len(code) >= 4 && code[0]|code[1]|code[2]|code[3] == 0
}
