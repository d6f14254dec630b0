package image

import (
	"fmt"
	"slices"

	"dbg/arch"
)

// CompactUnwind is the section __LD,__compact_unwind of a Mach-O object file. A linker makes
// __unwind_info from it.
type CompactUnwind struct {
	Data []byte // relocated, with the addresses of the file

	// Targets has the relocated words, by their offsets in Data.
	Targets map[uint64]UnwindTarget

	code   []Section        // instructions, with the targets of calls and jumps
	labels map[uint64]label // by address; the first one in the file's order
	addrs  []uint64
	sects  []section
}

// UnwindTarget is what a word of CompactUnwind refers to.
type UnwindTarget struct {
	Symbol   string // "" for an address in Section
	Section  int
	External bool   // it is in another file, and the word has no address
	Addend   uint64 // of a symbol
}

type label struct {
	name    string
	section int
}

// CompactUnwind reads __compact_unwind. ok is false if the file has none.
func (f *File) CompactUnwind() (c *CompactUnwind, ok bool, err error) {
	if f.macho == nil || f.Kind() != Relocatable {
		return nil, false, nil
	}
	i, ok := f.byName["__LD,__compact_unwind"]
	if !ok || f.sects[i].size == 0 {
		return nil, false, nil
	}
	data, err := f.machoContents(&f.sects[i])
	if err != nil {
		return nil, true, fmt.Errorf("__compact_unwind: %w", err)
	}
	list, err := f.macho.Relocations(&f.macho.Sections[i])
	if err != nil {
		return nil, true, err
	}
	c = &CompactUnwind{Data: append([]byte(nil), data...), Targets: map[uint64]UnwindTarget{}, labels: map[uint64]label{},
		sects: f.sects}
	word := 4
	if f.header.Wide {
		word = 8
	}
	for _, r := range list {
		if r.Type != 0 || r.Relative || r.Size != word || r.Offset > uint64(len(c.Data)) ||
			uint64(len(c.Data))-r.Offset < uint64(word) {
			return nil, true, fmt.Errorf("__compact_unwind+0x%x has a relocation of the unsupported type %d", r.Offset, r.Type)
		}
		at := c.Data[r.Offset:][:word]
		if r.Symbol == "" {
			c.Targets[r.Offset] = UnwindTarget{Section: r.Section}
			continue
		}
		if word == 8 {
			v := f.header.Order.Uint64(at)
			c.Targets[r.Offset] = UnwindTarget{Symbol: r.Symbol, External: !r.Defined, Addend: v}
			f.header.Order.PutUint64(at, v+r.Value)
		} else {
			v := f.header.Order.Uint32(at)
			c.Targets[r.Offset] = UnwindTarget{Symbol: r.Symbol, External: !r.Defined, Addend: uint64(v)}
			f.header.Order.PutUint32(at, v+uint32(r.Value))
		}
	}
	if err := c.readCode(f); err != nil {
		return nil, true, err
	}
	f.macho.Labels(func(name string, addr uint64, section int) {
		if _, dup := c.labels[addr]; !dup {
			c.labels[addr] = label{name, section}
			c.addrs = append(c.addrs, addr)
		}
	})
	slices.Sort(c.addrs)
	return c, true, nil
}

// TargetName returns what the word at an offset refers to, as llvm-objdump has it: a symbol or a section,
// and a distance.
func (c *CompactUnwind) TargetName(off, addr uint64) string {
	t, ok := c.Targets[off]
	name, addend := t.Symbol, t.Addend
	if !ok {
		return ""
	}
	if name == "" {
		name, addend = c.nearest(t.Section, addr)
	}
	if addend != 0 {
		name += fmt.Sprintf(" + 0x%x", addend)
	}
	return name
}

func (c *CompactUnwind) nearest(sect int, addr uint64) (name string, addend uint64) {
	i, found := slices.BinarySearch(c.addrs, addr)
	if !found {
		i--
	}
	if i >= 0 {
		if l := c.labels[c.addrs[i]]; l.section == sect {
			return l.name, addr - c.addrs[i]
		}
	}
	if sect <= 0 || sect >= len(c.sects) {
		return "?", addr
	}
	return c.sects[sect].name, addr - c.sects[sect].addr
}

// branch is the type of the relocations of calls and jumps: X86_64_RELOC_BRANCH and ARM64_RELOC_BRANCH26.
const branch = 2

// elsewhere is a distance that leads out of any function, for targets in other files.
const elsewhere = 0x4000000

// readCode copies the sections of instructions, and gives each call and jump its target. Without it a
// call of x86-64 would be one of the next instruction, as old code has it to read the PC, and a jump to
// another function would not leave this one.
func (c *CompactUnwind) readCode(f *File) error {
	for i := 1; i < len(f.sects); i++ {
		if s := &f.macho.Sections[i]; !s.Code || !s.Contents {
			continue
		}
		data, err := f.machoContents(&f.sects[i])
		if err != nil {
			return err
		}
		list, err := f.macho.Relocations(&f.macho.Sections[i])
		if err != nil {
			return err
		}
		s := Section{Addr: Addr(f.sects[i].addr), Data: append([]byte(nil), data...)}
		for _, r := range list {
			if r.Type != branch || !r.Relative || r.Symbol == "" || r.Size != 4 || uint64(len(s.Data)) < 4 ||
				r.Offset > uint64(len(s.Data))-4 {
				continue
			}
			at := s.Data[r.Offset:][:4]
			distance := uint64(elsewhere)
			if r.Defined {
				distance = r.Value - (uint64(s.Addr) + r.Offset)
			}
			switch f.Arch() {
			case arch.AMD64:
				f.header.Order.PutUint32(at, f.header.Order.Uint32(at)+uint32(distance)-4)
			default: // ARM64 and arm64_32; __compact_unwind of others is not refined with the code
				f.header.Order.PutUint32(at, f.header.Order.Uint32(at)&^0x3ffffff|uint32(distance)>>2&0x3ffffff)
			}
		}
		c.code = append(c.code, s)
	}
	return nil
}

// Code returns n bytes of the file's instructions, in which calls and jumps have their targets, or nil.
func (c *CompactUnwind) Code(addr uint64, n int) []byte {
	for i := range c.code {
		s := &c.code[i]
		if off := addr - uint64(s.Addr); off < uint64(len(s.Data)) && uint64(len(s.Data))-off >= uint64(n) {
			return s.Data[off : off+uint64(n)]
		}
	}
	return nil
}
