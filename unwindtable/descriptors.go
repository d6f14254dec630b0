package unwindtable

import (
	"context"
	"encoding/binary"
	"fmt"

	"dbg/compact"
	"dbg/image"
	"dbg/image/macho"
	"dbg/row"
)

const descriptorSection = "__LD,__compact_unwind"

// addDescriptors adds the compact unwind descriptors of a Mach-O object file if it has them.
func (f *file) addDescriptors() error {
	s, ok := f.Section(descriptorSection)
	if f.Format() != image.MachO || !ok || len(s.Data) == 0 {
		return nil
	}
	list, ok := f.MachORelocations(descriptorSection)
	if !ok {
		return fmt.Errorf("the relocations of %s are not in the file", descriptorSection)
	}
	t, err := compact.NewDescriptors(compact.DescriptorConfig{Arch: f.arch, Data: s.Data,
		Field: fieldsOf(s.Data, list), Code: f.code})
	if err != nil {
		return err
	}
	f.tables = append(f.tables, source{name: "compact", section: s.Name, other: descriptorTable{t}})
	return nil
}

// fieldsOf returns a function that resolves the fields of a section by its relocations. Two relocations of
// one field are a difference, which is no address.
func fieldsOf(data []byte, list []macho.Relocation) func(off, size int) (compact.Field, bool) {
	relocations := map[uint64]macho.Relocation{}
	for _, r := range list {
		if _, twice := relocations[r.Off]; twice {
			r.Plain = false
		}
		relocations[r.Off] = r
	}
	return func(off, size int) (f compact.Field, ok bool) {
		v := uint64(binary.LittleEndian.Uint32(data[off:]))
		if size == 8 {
			v = binary.LittleEndian.Uint64(data[off:])
		}
		switch r, found := relocations[uint64(off)]; {
		case !found:
			return compact.Field{Null: true}, v == 0
		case !r.Plain || r.Size != size:
			return f, false
		case r.Symbol == "":
			return compact.Field{Addr: v}, true
		case r.Defined:
			return compact.Field{Addr: r.Addr + v}, true
		default:
			return compact.Field{Symbol: r.Symbol}, v == 0
		}
	}
}

// descriptorTable is the section __LD,__compact_unwind.
type descriptorTable struct{ *compact.Descriptors }

// print prints the row of each function's body, or the descriptor.
func (t descriptorTable) print(ctx context.Context, p *printer, s *source) error {
	for x, err := range t.All() {
		if cerr := ctx.Err(); cerr != nil {
			return cerr
		}
		switch {
		case err != nil && p.wanted != nil:
		case err != nil:
			p.bad++
			p.defect(s, uint64(x.Offset), err)
		case !p.wanted.covers(x.Lo, x.Hi):
		case p.raw != nil:
			p.printed++
			t.printRaw(p, x)
		default:
			p.printed++
			p.style.function(p, s, t.function(p, x))
		}
		if _, err := p.out.Write(nil); err != nil {
			return err
		}
	}
	return nil
}

// printRaw prints a descriptor with the fields that llvm-objdump --unwind-info prints.
func (t descriptorTable) printRaw(p *printer, x *compact.Descriptor) {
	fmt.Fprintf(p.out, "  Entry at offset 0x%x:\n", x.Offset)
	fmt.Fprintf(p.out, "    start:                0x%x %s\n", x.Lo, p.f.nameAt(x.Lo))
	fmt.Fprintf(p.out, "    length:               0x%x\n", x.Hi-x.Lo)
	fmt.Fprintf(p.out, "    compact encoding:     0x%08x\n", uint32(x.Opcode))
	if name := t.personality(p, x); name != "" {
		fmt.Fprintf(p.out, "    personality function: 0x%x %s\n", x.Personality, name)
	}
	if x.LSDA != 0 {
		fmt.Fprintf(p.out, "    LSDA:                 0x%x\n", x.LSDA)
	}
}

func (t descriptorTable) personality(p *printer, x *compact.Descriptor) string {
	if x.PersonalityName != "" || x.Personality == 0 {
		return x.PersonalityName
	}
	return p.f.routine(x.Personality, false)
}

// function is the row of a descriptor. Its language-specific data are not decoded: their types need relocations.
func (t descriptorTable) function(p *printer, x *compact.Descriptor) *function {
	fn := &function{lo: x.Lo, hi: x.Hi, name: p.f.nameAt(x.Lo), offset: uint64(x.Offset), kind: "descriptor",
		remark: "body only", personality: t.personality(p, x), lsda: x.LSDA, otherData: true}
	var r row.Row
	if err := t.Row(x, &r); err != nil {
		fn.note, fn.remark = err.Error(), ""
		if x.Opcode.Kind(p.f.arch) == compact.DWARF {
			fn.note = "see __eh_frame"
		}
	}
	fn.rows = oneRow(&r)
	return fn
}
