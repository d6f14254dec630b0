package jit

import (
	"encoding/binary"
	"fmt"
	"time"

	"dbg/arch"
	"dbg/target"
)

// The interface's names in a program.
const (
	DescriptorSymbol = "__jit_debug_descriptor"
	RegisterSymbol   = "__jit_debug_register_code" // called after each change of the list
)

// Action is the program's last operation on an entry: action_flag of struct jit_descriptor.
type Action uint32

const (
	NoAction   Action = 0
	Registered Action = 1
	Removed    Action = 2
)

// Layout describes the layout of the interface's structures.
type Layout struct {
	order binary.ByteOrder
	ptr   int // size of a pointer in bytes
	size  int // offset of symfile_size: uint64_t is aligned to 8 bytes, but to 4 on i386
}

// LayoutOf returns the layout according to an architecture's C ABI.
func LayoutOf(a *arch.Arch) Layout {
	l := Layout{order: a.ByteOrder, ptr: a.PtrSize, size: 3 * a.PtrSize}
	if a != arch.I386 {
		l.size = (l.size + 7) &^ 7
	}
	return l
}

func (l Layout) word(b []byte) uint64 {
	if l.ptr == 8 {
		return l.order.Uint64(b)
	}
	return uint64(l.order.Uint32(b))
}

// Descriptor is struct jit_descriptor.
type Descriptor struct {
	Action   Action
	Relevant target.Addr // the entry that Action refers to
	First    target.Addr // the head of the list; 0 if it is empty
}

// ReadDescriptor reads the descriptor at an address. A version other than 1 is an error.
func (l Layout) ReadDescriptor(mem target.Memory, at target.Addr) (d Descriptor, err error) {
	var buf [24]byte
	b := buf[:8+2*l.ptr]
	if _, err := mem.ReadMemory(at, b); err != nil {
		return d, fmt.Errorf("%s: %w", DescriptorSymbol, err)
	}
	if v := l.order.Uint32(b); v != 1 {
		return d, fmt.Errorf("%s at %s has unsupported version %d", DescriptorSymbol, at, v)
	}
	d.Action = Action(l.order.Uint32(b[4:]))
	d.Relevant, d.First = target.Addr(l.word(b[8:])), target.Addr(l.word(b[8+l.ptr:]))
	return d, nil
}

// Entry is struct jit_code_entry.
type Entry struct {
	Addr target.Addr // address of the entry
	Next target.Addr
	File target.Addr // the symbol file in the program's memory
	Size uint64      // size of the symbol file in bytes
}

// ReadEntry reads the entry at an address.
func (l Layout) ReadEntry(mem target.Memory, at target.Addr) (e Entry, err error) {
	var buf [32]byte
	b := buf[:l.size+8]
	if _, err := mem.ReadMemory(at, b); err != nil {
		return e, fmt.Errorf("JIT code entry at %s: %w", at, err)
	}
	return Entry{Addr: at, Next: target.Addr(l.word(b)), File: target.Addr(l.word(b[2*l.ptr:])), Size: l.order.Uint64(b[l.size:])}, nil
}

// MaxEntries limits the length of a list. Programs that compile each method separately have tens of
// thousands of entries.
const MaxEntries = 1 << 17

// Entries reads a list from its first entry on. It stops at the end of the list, at an entry that
// it has read before, at an unreadable entry, after MaxEntries, and at the deadline. With an error
// it returns the entries before it.
func (l Layout) Entries(mem target.Memory, first target.Addr, deadline time.Time) ([]Entry, error) {
	var list []Entry
	seen := map[target.Addr]bool{}
	mem = &pages{mem: mem, cache: map[target.Addr][]byte{}}
	for at := first; at != 0; {
		switch {
		case seen[at]:
			return list, fmt.Errorf("the list of JIT code is circular: entry %s occurs twice", at)
		case len(list) == MaxEntries:
			return list, fmt.Errorf("the list of JIT code has more than %d entries", MaxEntries)
		case len(list)%1024 == 1023 && time.Now().After(deadline):
			return list, fmt.Errorf("reading the list of JIT code took too long: only %d entries were read", len(list))
		}
		seen[at] = true
		e, err := l.ReadEntry(mem, at)
		if err != nil {
			return list, err
		}
		list = append(list, e)
		at = e.Next
	}
	return list, nil
}

// MaxFile limits the size of one symbol file, in bytes.
const MaxFile = 64 << 20

// ReadFile reads the symbol file of an entry. It allocates memory only as reading succeeds, because
// the size may be wrong.
func ReadFile(mem target.Memory, e Entry) ([]byte, error) {
	if e.Size == 0 || e.Size > MaxFile {
		return nil, fmt.Errorf("the symbol file at %s has an invalid size of %d bytes", e.File, e.Size)
	}
	const step = 1 << 20
	out := make([]byte, 0, min(e.Size, step))
	for uint64(len(out)) < e.Size {
		have := len(out)
		n := int(min(e.Size-uint64(have), max(step, uint64(have))))
		out = append(out, make([]byte, n)...)
		if _, err := mem.ReadMemory(e.File+target.Addr(have), out[have:]); err != nil {
			return nil, fmt.Errorf("reading the symbol file at %s of %d bytes: %w", e.File, e.Size, err)
		}
	}
	return out, nil
}
