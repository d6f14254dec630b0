package unwindtable

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"dbg/image"
	"dbg/orc"
	"dbg/row"
)

// addORC adds the tables of a Linux kernel or of one of its modules. In a module, which is relocatable, the addresses
// of each section begin at 0: there is a table for each.
func (f *file) addORC() error {
	ip, ok := f.Section(".orc_unwind_ip")
	unwind, ok2 := f.Section(".orc_unwind")
	switch {
	case !ok || !ok2 || ip.Size == 0:
		return nil
	case ip.Data == nil || unwind.Data == nil:
		f.elsewhere = true
		return nil
	}
	header, _ := f.Section(".orc_header")
	c := orc.Config{IP: ip.Data, IPAddr: uint64(ip.Addr), Unwind: unwind.Data, Header: header.Data,
		Release: f.KernelRelease()}
	if f.Kind() == image.Relocatable {
		return f.addRelocatableORC(c, ip)
	}
	t, err := orc.New(c)
	if err != nil {
		return err
	}
	f.tables = append(f.tables, source{name: "orc", section: ".orc_unwind", other: orcTable{Table: t}})
	return nil
}

// orcEntrySize is the number of bytes of an entry in .orc_unwind.
const orcEntrySize = 6

// addRelocatableORC makes a table for each section that entries refer to.
func (f *file) addRelocatableORC(c orc.Config, ip image.Section) error {
	data, places := relocated(f.File, ip)
	n := min(len(data)/4, len(c.Unwind)/orcEntrySize)
	all := orc.Config{Unwind: c.Unwind, IP: data, Header: c.Header, Release: c.Release}
	whole, err := orc.New(all) // of the version: a section alone may not show it
	if err != nil {
		return err
	}
	parts := map[int]*orc.Config{}
	numbers := map[int][]int{}
	var order []int
	for i := range n {
		section, ok := places[uint64(4*i)]
		if !ok {
			return fmt.Errorf(".orc_unwind_ip entry %d has no relocation", i)
		}
		p := parts[section]
		if p == nil {
			p = &orc.Config{Header: c.Header, Release: c.Release, Version: whole.ChosenVersion()}
			parts[section] = p
			order = append(order, section)
		}
		to := binary.LittleEndian.Uint32(data[4*i:]) + uint32(4*i) - uint32(len(p.IP))
		p.IP = binary.LittleEndian.AppendUint32(p.IP, to)
		p.Unwind = append(p.Unwind, c.Unwind[orcEntrySize*i:][:orcEntrySize]...)
		numbers[section] = append(numbers[section], i)
	}
	sections := f.Sections()
	module := new([]orcTable)
	for _, s := range order {
		t, err := orc.New(*parts[s])
		if err != nil {
			return err
		}
		name := "?"
		if s < len(sections) {
			name = sections[s].Name
		}
		x := orcTable{Table: t, inSection: s, sectionName: name, numbers: numbers[s],
			symbols: f.codeSymbols(s), module: module}
		*module = append(*module, x)
		f.tables = append(f.tables, source{name: "orc", section: ".orc_unwind", other: x})
	}
	return nil
}

// codeSymbols lists the symbols of a section of a relocatable file that may begin functions, by address.
func (f *file) codeSymbols(section int) (list []image.Symbol) {
	for _, s := range f.Symbols() {
		if int(s.Section) == section && s.Kind != image.Object && s.Name != "" {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b image.Symbol) int { return cmp.Compare(a.Addr, b.Addr) })
	return list
}

// orcTable is the table of a linked kernel, or of a section of a module.
type orcTable struct {
	*orc.Table
	inSection   int
	sectionName string // "" in a linked kernel
	numbers     []int  // of the entries in the module's section
	symbols     []image.Symbol
	module      *[]orcTable // those of all sections of the module
}

// print prints the rows of each function, or the entries as objtool --dump=orc prints them.
func (t orcTable) print(ctx context.Context, p *printer, s *source) error {
	if p.raw != nil {
		return t.printRaw(ctx, p)
	}
	var open *function
	var rows []row.Row
	var key uint64
	flush := func() {
		if open != nil {
			list := rows
			open.rows = func(yield func(*row.Row, error) bool) {
				for i := range list {
					if !yield(&list[i], nil) {
						return
					}
				}
			}
			p.style.function(p, s, open)
			p.printed++
		}
		open, rows = nil, nil
	}
	var e orc.Entry
	for i := range t.Entries() {
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		err := t.Entry(i, &e)
		if e.Lo >= e.Hi || !t.wants(p, &e) {
			continue
		}
		r := row.Row{}
		if err == nil {
			err = t.Row(&e, &r)
		}
		if err != nil {
			flush()
			if !errors.Is(err, orc.ErrNotCovered) {
				p.bad++
				p.defect(s, t.offset(&e), err)
			}
			continue
		}
		name, begin := t.function(p, e.Lo)
		if open == nil || open.hi != e.Lo || begin != key {
			flush()
			open, key = &function{lo: e.Lo, name: name, offset: t.offset(&e), kind: "entry"}, begin
		}
		open.hi = e.Hi
		rows = append(rows, r)
		if _, err := p.out.Write(nil); err != nil {
			return err
		}
	}
	flush()
	return nil
}

// offset is the offset of an entry in .orc_unwind.
func (t orcTable) offset(e *orc.Entry) uint64 {
	if t.sectionName == "" {
		return uint64(e.Index) * orcEntrySize
	}
	return uint64(t.numbers[e.Index]) * orcEntrySize
}

// wants reports whether an entry is asked for.
func (t orcTable) wants(p *printer, e *orc.Entry) bool {
	if p.wanted == nil || len(p.wanted.names) == 0 {
		return p.wanted.covers(e.Lo, e.Hi)
	}
	_, begin := t.function(p, e.Lo)
	return slices.Contains(p.wanted.names, placed{t.inSection, begin})
}

// function is the name of the function that an address belongs to, with an offset if the function begins earlier, and
// the address of its beginning. Without symbols, code without gaps is one function.
func (t orcTable) function(p *printer, addr uint64) (name string, begin uint64) {
	if t.sectionName == "" {
		name, off, ok := p.f.syms.SymbolAt(image.Addr(addr))
		if !ok {
			return "??", 0
		}
		return withOffset(name, off), addr - off
	}
	i, found := slices.BinarySearchFunc(t.symbols, addr, func(s image.Symbol, a uint64) int {
		return cmp.Compare(uint64(s.Addr), a)
	})
	if !found {
		i--
	}
	if i < 0 {
		return "??", 0
	}
	begin = uint64(t.symbols[i].Addr)
	return withOffset(demangled(t.symbols[i].Name), addr-begin), begin
}

func withOffset(name string, off uint64) string {
	if off == 0 {
		return name
	}
	return fmt.Sprintf("%s+0x%x", name, off)
}

// printRaw prints the entries of a kernel in the order of their addresses, or those of all sections of a module in
// the order of the file.
func (t orcTable) printRaw(ctx context.Context, p *printer) error {
	if t.module == nil {
		for i := range t.Entries() {
			if i%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if err := t.printEntry(p, i); err != nil {
				return err
			}
		}
		return nil
	}
	if t.inSection != (*t.module)[0].inSection {
		return nil // the first one has printed all
	}
	type place struct{ number, part, i int }
	var all []place
	var e orc.Entry
	for part, x := range *t.module {
		for i := range x.Entries() {
			_ = x.Entry(i, &e)
			all = append(all, place{x.numbers[e.Index], part, i})
		}
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Compare(a.number, b.number) })
	for n, x := range all {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := (*t.module)[x.part].printEntry(p, x.i); err != nil {
			return err
		}
	}
	return nil
}

// printEntry prints an entry, also one that can't be used.
func (t orcTable) printEntry(p *printer, i int) error {
	var e orc.Entry
	_ = t.Entry(i, &e)
	if !t.wants(p, &e) {
		return nil
	}
	place := fmt.Sprintf("%x", e.Lo)
	if t.sectionName != "" {
		place = fmt.Sprintf("%s+%x", t.sectionName, e.Lo)
	}
	p.printed++
	return t.Print(p.out, &e, place)
}
