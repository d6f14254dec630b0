// Package gopclntab reads the table of functions and lines in every program of the Go toolchain,
// even a stripped one: the Go runtime itself needs it for backtraces. The format is that of Go
// 1.18 and later ("Go 1.2 Runtime Symbol Table", golang.org/s/go12symtab, with later changes:
// internal/abi's PCLnTabMagic, cmd/link's pclntab.go, runtime's symtab.go and symtabinl.go).
package gopclntab

import (
	"bytes"
	"encoding/binary"
	"errors"
	"sort"
	"strings"

	"dbg/image"
)

// Values of the header's first word.
const (
	magic118 = 0xfffffff0 // Go 1.18 and 1.19
	magic120 = 0xfffffff1 // Go 1.20 and later
)

// Bounds.
const (
	maxFuncs  = 1 << 24
	maxName   = 1 << 14
	maxInline = 1 << 8 // calls at one address
)

// Table is a program's function table. Several goroutines may use it. Addresses are those of the
// file.
type Table struct {
	order binary.ByteOrder
	ptr   uint64 // size of a pointer
	quant uint64 // minimum length of an instruction
	v120  bool
	count int    // of functions
	text  uint64 // the base of code offsets

	names, units, files, pcs, funcs []byte
	inline                          []byte // the compiler's data about inlined calls (go:func.*); nil if not found
}

// errNone reports that a file has no Go function table.
var errNone = errors.New("no Go function table")

// Open reads the function table of a file. The file must stay open.
func Open(f *image.File) (*Table, error) {
	var s image.Section
	found := false
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab", "__gopclntab"} {
		if s, found = f.Section(name); found {
			break
		}
	}
	a := f.Arch()
	if !found || len(s.Data) < 72 || a == nil {
		return nil, errNone
	}
	b := s.Data
	t := &Table{order: a.ByteOrder, quant: uint64(b[6]), ptr: uint64(b[7])}
	switch t.order.Uint32(b) {
	case magic118:
	case magic120:
		t.v120 = true
	default:
		return nil, errors.New("the Go function table has an unsupported version")
	}
	if t.ptr != 4 && t.ptr != 8 || t.quant == 0 || t.quant > 4 {
		return nil, errors.New("the header of the Go function table is damaged")
	}
	n := t.word(b, 8)
	if n == 0 || n > maxFuncs {
		return nil, errors.New("the Go function table is damaged: it claims too many functions")
	}
	t.count = int(n)
	for i, part := range []*[]byte{&t.names, &t.units, &t.files, &t.pcs, &t.funcs} {
		off := t.word(b, 8+t.ptr*uint64(3+i))
		if off > uint64(len(b)) {
			return nil, errors.New("the Go function table is damaged: a part begins after its end")
		}
		*part = b[off:]
	}
	if n*8+4 > uint64(len(t.funcs)) {
		return nil, errors.New("the Go function table is truncated")
	}
	if !t.place(f, uint64(s.Addr), t.word(b, 8+t.ptr*2)) {
		return nil, errors.New("the code address of the Go function table is unknown")
	}
	return t, nil
}

// word reads a pointer. It returns 0 beyond the end.
func (t *Table) word(b []byte, at uint64) uint64 {
	if at+t.ptr > uint64(len(b)) {
		return 0
	}
	if t.ptr == 8 {
		return t.order.Uint64(b[at:])
	}
	return uint64(t.order.Uint32(b[at:]))
}

// Words of runtime.moduledata, by number.
const (
	dataText    = 22
	dataGofunc  = 40
	dataWords   = 41
	dataGofunc1 = 38 // in Go 1.18 and 1.19, which have no covctrs
)

// place finds the address of the code, and the data about inlined calls, in the runtime's
// moduledata, which begins with a pointer to the table. Without moduledata it tries the program's
// entry point, which is a function in the table.
func (t *Table) place(f *image.File, table, header uint64) bool {
	gofunc := dataGofunc
	if !t.v120 {
		gofunc = dataGofunc1
	}
	if words := t.moduleData(f, table); words != nil {
		if text := words[dataText]; t.fits(f, text) {
			t.text = text
			t.inline = f.ContentsFrom(image.Addr(words[gofunc]))
			return true
		}
	}
	for _, text := range []uint64{header, textOf(f)} {
		if text == 0 || !t.fits(f, text) {
			continue
		}
		t.text = text
		if fn, ok := t.Find(uint64(f.Entry())); ok && fn.Lo == uint64(f.Entry()) && strings.HasPrefix(fn.Name, "_rt0_") {
			return true
		}
	}
	return false
}

func textOf(f *image.File) uint64 {
	for _, name := range []string{".text", "__text"} {
		if s, ok := f.Section(name); ok {
			return uint64(s.Addr)
		}
	}
	return 0
}

// fits reports whether all functions are in code if their offsets count from text.
func (t *Table) fits(f *image.File, text uint64) bool {
	end := text + uint64(t.order.Uint32(t.funcs[8*t.count:]))
	for _, s := range f.Segments() {
		if s.Exec && uint64(s.Lo) <= text && text < end && end <= uint64(s.Hi) {
			return true
		}
	}
	return false
}

// moduleData returns the first words of runtime.moduledata, as stored in the file or as its
// relocations make them. It returns nil if moduledata is not found.
func (t *Table) moduleData(f *image.File, table uint64) []uint64 {
	for _, s := range f.Sections() {
		switch s.Name {
		case ".noptrdata", ".data", ".data.rel.ro", ".go.module", "__noptrdata", "__data", "__go_module":
		default:
			continue
		}
		have, ok := f.Section(s.Name)
		if !ok {
			continue
		}
		for at := uint64(0); at+dataWords*t.ptr <= uint64(len(have.Data)); at += t.ptr {
			if t.word(have.Data, at) != table {
				continue
			}
			words := make([]uint64, dataWords)
			for i := range words {
				words[i] = t.word(have.Data, at+uint64(i)*t.ptr)
			}
			if t.fits(f, words[dataText]) {
				return words
			}
		}
	}
	if rela, ok := f.Section(".rela.dyn"); ok && t.ptr == 8 {
		return t.relocated(rela.Data, table)
	}
	return nil
}

// relocated is moduleData for position-independent programs, whose pointers are relocation
// addends (Elf64_Rela).
func (t *Table) relocated(rela []byte, table uint64) []uint64 {
	const size = 24
	for b := rela; len(b) >= size; b = b[size:] {
		if t.order.Uint64(b[16:]) != table {
			continue
		}
		from := t.order.Uint64(b)
		words := make([]uint64, dataWords)
		words[0] = table
		for c := rela; len(c) >= size; c = c[size:] {
			if i := (t.order.Uint64(c) - from) / 8; i < dataWords && t.order.Uint64(c)-from == i*8 {
				words[i] = t.order.Uint64(c[16:])
			}
		}
		if words[dataText] != 0 {
			return words
		}
	}
	return nil
}

// Len returns the number of functions.
func (t *Table) Len() int { return t.count }

// Func is a function in the table.
type Func struct {
	Name   string
	Lo, Hi uint64

	t    *Table
	data []byte // struct _func and the bytes after it
}

// start returns the address of function i.
func (t *Table) start(i int) uint64 { return t.text + uint64(t.order.Uint32(t.funcs[8*i:])) }

// Func returns function i, in address order. It returns false if the entry is damaged.
func (t *Table) Func(i int) (Func, bool) {
	if i < 0 || i >= t.count {
		return Func{}, false
	}
	off := uint64(t.order.Uint32(t.funcs[8*i+4:]))
	if off+44 > uint64(len(t.funcs)) {
		return Func{}, false
	}
	f := Func{Lo: t.start(i), Hi: t.start(i + 1), t: t, data: t.funcs[off:]}
	f.Name = t.name(t.order.Uint32(f.data[4:]))
	return f, f.Name != "" && f.Lo < f.Hi
}

// Find returns the function that contains an address.
func (t *Table) Find(pc uint64) (Func, bool) {
	i := sort.Search(t.count, func(i int) bool { return t.start(i) > pc }) - 1
	f, ok := t.Func(i)
	return f, ok && f.Lo <= pc && pc < f.Hi
}

func (t *Table) name(off uint32) string { return text(t.names, uint64(off)) }

func text(b []byte, off uint64) string {
	if off >= uint64(len(b)) {
		return ""
	}
	b = b[off:min(off+maxName, uint64(len(b)))]
	if n := bytes.IndexByte(b, 0); n >= 0 {
		return string(b[:n])
	}
	return ""
}
