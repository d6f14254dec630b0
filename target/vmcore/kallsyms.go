package vmcore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// symbol is one symbol of the kernel.
type symbol struct {
	name string
	addr uint64
	code bool
}

// Bounds on the kernel's table of its symbols: Debian's kernels have 200,000 with names of 4 MB.
const (
	maxSymbols   = 4 << 20
	maxNameBytes = 64 << 20
	nameChunk    = 1 << 20
)

// kallsyms reads the kernel's table of its own symbols, whose parts VMCOREINFO has since Linux 6.0 (kernel/kallsyms.c,
// scripts/kallsyms.c). A name is a list of tokens, of which the first begins with the symbol's type as of nm.
func (c *Core) kallsyms() ([]symbol, error) {
	at := func(name string) uint64 { return c.info.symbols["kallsyms_"+name] }
	for _, part := range []string{"names", "num_syms", "token_table", "token_index", "offsets"} {
		if at(part) == 0 {
			return nil, errors.New("VMCOREINFO does not tell where the kernel's symbols are (Linux before 6.0)")
		}
	}
	n, err := c.half(at("num_syms"))
	if err != nil {
		return nil, err
	}
	if n == 0 || n > maxSymbols {
		return nil, fmt.Errorf("kallsyms: implausible number of symbols: %d", n)
	}
	var base uint64
	if at("relative_base") != 0 {
		if base, err = c.word(at("relative_base")); err != nil {
			return nil, err
		}
	}
	offsets, err := c.bytesAt(at("offsets"), 4*uint64(n))
	if err != nil {
		return nil, err
	}
	tokens, err := c.tokens(at("token_table"), at("token_index"))
	if err != nil {
		return nil, err
	}
	list := make([]symbol, 0, n)
	names := nameReader{c: c, next: at("names")}
	address := addresses{base, at("offsets"), base != 0 && hasNegative(offsets)}
	var name []byte
	for i := range int(n) {
		if name, err = names.name(&tokens, name[:0]); err != nil {
			return nil, fmt.Errorf("kallsyms: symbol %d: %w", i, err)
		}
		if len(name) < 2 {
			continue
		}
		off := binary.LittleEndian.Uint32(offsets[4*i:])
		kind := name[0]
		list = append(list, symbol{string(name[1:]), address.of(i, off), kind == 't' || kind == 'T' || kind == 'w' || kind == 'W'})
	}
	return list, c.checkSymbols(list)
}

// addresses computes the symbols' addresses.
type addresses struct {
	base, offsets uint64 // kallsyms_relative_base, or 0, and the address of kallsyms_offsets
	mixed         bool
}

// of returns the address of symbol i. There are three forms: an offset from the base; before Linux 6.15, for kernels
// with several processors, addresses of processors' variables are positive and all others are -1 minus their offset
// from the base; Linux 7 has no base, and offsets are relative to their own places.
func (a *addresses) of(i int, off uint32) uint64 {
	switch {
	case a.base == 0:
		return a.offsets + 4*uint64(i) + uint64(int64(int32(off)))
	case !a.mixed:
		return a.base + uint64(off)
	case int32(off) >= 0:
		return uint64(off)
	}
	return a.base - 1 - uint64(int64(int32(off)))
}

// checkSymbols compares a symbol with what VMCOREINFO has: the form of the table may have changed.
func (c *Core) checkSymbols(list []symbol) error {
	want := c.info.symbols["_stext"]
	for _, s := range list {
		if s.name == "_stext" && s.addr != want && want != 0 {
			return fmt.Errorf("kallsyms: _stext is at 0x%x, VMCOREINFO has it at 0x%x", s.addr, want)
		}
	}
	return nil
}

func hasNegative(offsets []byte) bool {
	for i := 3; i < len(offsets); i += 4 {
		if offsets[i]&0x80 != 0 {
			return true
		}
	}
	return false
}

// tokens reads the 256 tokens.
func (c *Core) tokens(table, index uint64) (list [256][]byte, err error) {
	places, err := c.bytesAt(index, 512)
	if err != nil {
		return list, err
	}
	text := make([]byte, 1<<16+64)
	n, _ := c.read(table, text)
	text = text[:n]
	for i := range list {
		at := int(binary.LittleEndian.Uint16(places[2*i:]))
		if at >= len(text) {
			return list, fmt.Errorf("kallsyms: token %d is not in the dump", i)
		}
		end := bytes.IndexByte(text[at:], 0)
		if end < 0 {
			return list, fmt.Errorf("kallsyms: token %d has no end", i)
		}
		list[i] = text[at : at+end]
	}
	return list, nil
}

// nameReader reads the compressed names one after the other.
type nameReader struct {
	c    *Core
	next uint64
	b    []byte
	read int // bytes in all
}

// maxName is the length of the longest symbol (KSYM_NAME_LEN), with some room.
const maxName = 2048

// name appends the next name.
func (r *nameReader) name(tokens *[256][]byte, out []byte) ([]byte, error) {
	if len(r.b) < 4*maxName {
		if err := r.more(); err != nil {
			return nil, err
		}
	}
	if len(r.b) == 0 {
		return nil, errors.New("it is not in the dump")
	}
	n := int(r.b[0])
	r.b = r.b[1:]
	if n&0x80 != 0 { // two bytes
		if len(r.b) == 0 {
			return nil, errors.New("it is not in the dump")
		}
		n = n&0x7f | int(r.b[0])<<7
		r.b = r.b[1:]
	}
	if n > len(r.b) {
		return nil, errors.New("it is not in the dump")
	}
	for _, t := range r.b[:n] {
		if out = append(out, tokens[t]...); len(out) > maxName {
			return nil, errors.New("its name is too long")
		}
	}
	r.b = r.b[n:]
	return out, nil
}

// more reads the next chunk. What lies beyond the names may not be in the dump.
func (r *nameReader) more() error {
	if r.read > maxNameBytes {
		return errors.New("the names are too long")
	}
	b := make([]byte, nameChunk)
	n, _ := r.c.read(r.next, b)
	r.next += uint64(n)
	r.read += nameChunk
	r.b = append(bytes.Clone(r.b), b[:n]...)
	return nil
}
