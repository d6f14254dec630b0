package compact

import (
	"encoding/binary"
	"fmt"
	"iter"

	"dbg/arch"
	"dbg/row"
)

// DescriptorConfig holds the inputs of Descriptors.
type DescriptorConfig struct {
	Arch *arch.Arch
	Data []byte // __LD,__compact_unwind

	// Field resolves the field of size bytes at an offset of Data. ok is false if that is not possible.
	Field func(off, size int) (f Field, ok bool)

	// Code is as in Config.
	Code func(addr uint64, n int) []byte
}

// Field is the contents of a field that may hold an address.
type Field struct {
	Null   bool   // it holds no address
	Addr   uint64 // address in the file
	Symbol string // instead of Addr: name of a symbol that another file defines
}

// Descriptors is the section __LD,__compact_unwind of an object file, from which linkers make __unwind_info. A
// descriptor has the address of a function (a pointer), its length and opcode (words), and the addresses of the
// personality routine and of the language-specific data (pointers): LLVM's MachObjectWriter and AsmBackend of each
// architecture.
type Descriptors struct {
	config DescriptorConfig
	table  Table
}

// Descriptor is one descriptor. Its opcode's bits for the personality routine and the LSDA are set by linkers.
type Descriptor struct {
	Entry
	Personality     uint64 // address of the personality routine, if this file has it
	PersonalityName string // its name, if another file has it
	LSDA            uint64 // address of the language-specific data, or 0
}

// NewDescriptors makes Descriptors. An error means that the section's size is not that of whole descriptors.
func NewDescriptors(c DescriptorConfig) (*Descriptors, error) {
	d := &Descriptors{config: c, table: Table{arch: c.Arch, code: c.Code}}
	if len(c.Data)%d.size() != 0 {
		return nil, fmt.Errorf("__compact_unwind: its %d bytes are not descriptors of %d bytes", len(c.Data), d.size())
	}
	return d, nil
}

// size returns the size of a descriptor in bytes: 32, or 20 with pointers of 4 bytes.
func (d *Descriptors) size() int { return 8 + 3*d.config.Arch.PtrSize }

// All yields the descriptors in the section's order. With an error only Offset is set.
func (d *Descriptors) All() iter.Seq2[*Descriptor, error] {
	return func(yield func(*Descriptor, error) bool) {
		for off := 0; off < len(d.config.Data); off += d.size() {
			x, err := d.at(off)
			if !yield(&x, err) {
				return
			}
		}
	}
}

// at decodes the descriptor at an offset.
func (d *Descriptors) at(off int) (x Descriptor, err error) {
	w := d.config.Arch.PtrSize
	words := d.config.Data[off+w:]
	start, ok := d.config.Field(off, w)
	routine, ok1 := d.config.Field(off+w+8, w)
	data, ok2 := d.config.Field(off+2*w+8, w)
	lo, length := start.Addr, uint64(binary.LittleEndian.Uint32(words))
	if !ok || !ok1 || !ok2 || start.Null || start.Symbol != "" || data.Symbol != "" || lo+length < lo {
		return Descriptor{Entry: Entry{Offset: off}}, defect(off, "an address of the descriptor can't be resolved")
	}
	x.Entry = Entry{Lo: lo, Hi: lo + length, Opcode: Opcode(binary.LittleEndian.Uint32(words[4:])), Offset: off}
	x.Personality, x.PersonalityName, x.LSDA = routine.Addr, routine.Symbol, data.Addr
	return x, nil
}

// Row fills r with the row that is valid in the body of the function, as Table.Row does.
func (d *Descriptors) Row(x *Descriptor, r *row.Row) error {
	if !x.Opcode.StartsFunction() { // an indirect size counts from the start of a function, which is not known
		return defect(x.Offset, "the descriptor is for a part of a function")
	}
	return d.table.Row(&x.Entry, r)
}
