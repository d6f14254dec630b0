package compact

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Descriptor is an entry of the section __LD,__compact_unwind of an object file, from which linkers make
// __unwind_info. It describes one function, or a part of one.
type Descriptor struct {
	Lo, Length  uint64
	Opcode      Opcode
	Personality uint64 // the address of the routine, or 0
	LSDA        uint64 // the address of the language-specific data, or 0
	Offset      int    // of the entry in the section
}

// DescriptorSize is the size of a descriptor in bytes: start (a word), length and encoding of 4 bytes,
// personality and LSDA (words). word is the size of a pointer.
func DescriptorSize(word int) int { return 3*word + 8 }

// Descriptors decodes the section, to which relocations are applied already. Apple's header
// mach-o/compact_unwind_encoding.h describes it ("Compiler compact unwind"). order and word are those of
// the file.
func Descriptors(data []byte, order binary.ByteOrder, word int) ([]Descriptor, error) {
	size := DescriptorSize(word)
	if len(data)%size != 0 {
		return nil, fmt.Errorf("__compact_unwind has 0x%x bytes, which are not descriptors of %d bytes", len(data), size)
	}
	get := func(b []byte) uint64 {
		if word == 8 {
			return order.Uint64(b)
		}
		return uint64(order.Uint32(b))
	}
	list := make([]Descriptor, 0, len(data)/size)
	for off := 0; off < len(data); off += size {
		b := data[off : off+size]
		list = append(list, Descriptor{Lo: get(b), Length: uint64(order.Uint32(b[word:])),
			Opcode: Opcode(order.Uint32(b[word+4:])), Personality: get(b[word+8:]), LSDA: get(b[2*word+8:]), Offset: off})
	}
	return list, nil
}

// OfDescriptors makes a table from descriptors, as a linker does, without personality routines and LSDAs. The
// Config needs no Data; its Base is 0. Two descriptors of one address are an error, and so are addresses
// of more than 32 bits.
func OfDescriptors(c Config, list []Descriptor) (*Table, error) {
	const perPage = 1000
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b Descriptor) int {
		switch {
		case a.Lo < b.Lo:
			return -1
		case a.Lo > b.Lo:
			return 1
		}
		return 0
	})
	var entries []uint32 // addresses and opcodes
	end := uint64(0)
	for i := range sorted {
		d := &sorted[i]
		switch hi := d.Lo + d.Length; {
		case d.Length == 0:
			return nil, fmt.Errorf("__compact_unwind+0x%x: the function at 0x%x has no length", d.Offset, d.Lo)
		case hi > math.MaxUint32 || hi < d.Lo:
			return nil, fmt.Errorf("__compact_unwind+0x%x: the function at 0x%x is not in the first 4 GB", d.Offset, d.Lo)
		case d.Lo < end:
			return nil, fmt.Errorf("__compact_unwind+0x%x: the function at 0x%x overlaps the one before it", d.Offset, d.Lo)
		case d.Lo > end && i > 0:
			entries = append(entries, uint32(end), 0) // nothing is known of what is between two functions
		}
		// What refers to the arrays of the section would be wrong here.
		entries = append(entries, uint32(d.Lo), uint32(d.Opcode&^(hasLSDA|3<<personalityShift)))
		end = d.Lo + d.Length
	}
	le := binary.LittleEndian
	words := func(b []byte, list ...uint32) []byte {
		for _, v := range list {
			b = le.AppendUint32(b, v)
		}
		return b
	}
	pages := slices.Collect(slices.Chunk(entries, 2*perPage))
	index := uint32(12 * (len(pages) + 1))
	data := words(nil, 1, headerSize, 0, headerSize, 0, headerSize, uint32(len(pages)+1))
	at := headerSize + index
	for _, p := range pages {
		data = words(data, p[0], at, headerSize+index)
		at += 8 + uint32(4*len(p))
	}
	data = words(data, uint32(end), 0, headerSize+index)
	for _, p := range pages {
		data = words(data, uint32(Regular), 8|uint32(len(p)/2)<<16)
		data = words(data, p...)
	}
	c.Data, c.Base = data, 0
	return New(c)
}
