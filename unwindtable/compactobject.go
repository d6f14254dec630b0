package unwindtable

import (
	"context"
	"encoding/binary"
	"fmt"

	"dbg/compact"
	"dbg/image"
)

// descriptorTable is __LD,__compact_unwind of an object file.
type descriptorTable struct {
	*image.CompactUnwind
	list  []compact.Descriptor
	table *compact.Table
	word  int
}

// addDescriptors adds __compact_unwind if the file has it.
func (f *file) addDescriptors() error {
	c, ok, err := f.CompactUnwind()
	if err != nil || !ok {
		return err
	}
	t := descriptorTable{CompactUnwind: c, word: f.arch.PtrSize}
	if t.list, err = compact.Descriptors(c.Data, binary.LittleEndian, t.word); err != nil {
		return err
	}
	if t.table, err = compact.OfDescriptors(compact.Config{Arch: f.codeArch(), Code: c.Code}, t.list); err != nil {
		return err
	}
	f.tables = append(f.tables, source{name: "compact", section: "__compact_unwind", other: t})
	return nil
}

// print prints the rows of each descriptor, as a linked file would have them.
func (t descriptorTable) print(ctx context.Context, p *printer, s *source) error {
	if p.raw != nil {
		return t.printRaw(ctx, p)
	}
	r := compact.NewRefiner(t.table, nil)
	r.Escape = p.f.escape()
	entries := map[uint64]int{}
	for i := range r.Entries() {
		lo, _, _, _ := r.Function(i)
		entries[lo] = i
	}
	var list rows
	for i := range t.list {
		d := &t.list[i]
		if err := ctx.Err(); err != nil {
			return err
		}
		lo, hi := d.Lo, d.Lo+d.Length
		if !p.wanted.covers(lo, hi) {
			continue
		}
		if _, err := d.Opcode.Decode(p.f.codeArch()); err != nil {
			p.bad++
			p.defect(s, uint64(d.Offset), err)
			continue
		}
		list = list[:0]
		if k, ok := entries[lo]; ok {
			r.EachRow(k, k+1, list.add)
		}
		fn := function{lo: lo, hi: hi, name: p.f.nameAt(lo), offset: uint64(d.Offset), kind: "descriptor", rows: list.each,
			lsda: d.LSDA, otherData: true, personality: t.personality(d)}
		if len(list) == 0 {
			fn.note = "no unwind information"
			if d.Opcode.Kind(p.f.codeArch()) == compact.DWARF {
				fn.note = "see __eh_frame"
			}
		}
		p.style.function(p, s, &fn)
		p.printed++
		if _, err := p.out.Write(nil); err != nil {
			return err
		}
	}
	return nil
}

// personality returns the name of the personality routine, which mostly is in another file, or its
// address.
func (t descriptorTable) personality(d *compact.Descriptor) string {
	off := uint64(d.Offset + t.word + 8)
	if x, ok := t.Targets[off]; ok {
		return t.TargetName(off, d.Personality-x.Addend)
	}
	if d.Personality == 0 {
		return ""
	}
	return fmt.Sprintf("0x%x", d.Personality)
}

// printRaw prints the section like llvm-objdump --unwind-info.
func (t descriptorTable) printRaw(ctx context.Context, p *printer) error {
	out := p.out
	fmt.Fprintf(out, "Contents of __compact_unwind section:\n")
	for i := range t.list {
		d := &t.list[i]
		if err := ctx.Err(); err != nil {
			return err
		}
		if !p.wanted.covers(d.Lo, d.Lo+d.Length) {
			continue
		}
		at := uint64(d.Offset)
		fmt.Fprintf(out, "  Entry at offset 0x%x:\n", at)
		fmt.Fprintf(out, "    start:                0x%x %s\n", t.inPlace(at, d.Lo), t.TargetName(at, d.Lo))
		fmt.Fprintf(out, "    length:               0x%x\n", d.Length)
		fmt.Fprintf(out, "    compact encoding:     0x%08x\n", uint32(d.Opcode))
		at += uint64(t.word) + 8
		if _, ok := t.Targets[at]; ok {
			fmt.Fprintf(out, "    personality function: 0x%x %s\n", t.inPlace(at, d.Personality),
				t.TargetName(at, d.Personality))
		}
		at += uint64(t.word)
		if _, ok := t.Targets[at]; ok {
			fmt.Fprintf(out, "    LSDA:                 0x%x %s\n", t.inPlace(at, d.LSDA), t.TargetName(at, d.LSDA))
		}
		p.printed++
		if _, err := out.Write(nil); err != nil {
			return err
		}
	}
	return nil
}

// inPlace is the value of a word before it was relocated.
func (t descriptorTable) inPlace(off, value uint64) uint64 {
	if x := t.Targets[off]; x.Symbol != "" {
		return x.Addend
	}
	return value
}
