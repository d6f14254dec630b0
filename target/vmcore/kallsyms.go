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
	for _, part := range []string{"names", "num_syms", "token_table", "token_index", "offsets", "relative_base"} {
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
	base, err := c.word(at("relative_base"))
	if err != nil {
		return nil, err
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
	mixed := hasNegative(offsets)
	var name []byte
	for i := range int(n) {
		if name, err = names.name(&tokens, name[:0]); err != nil {
			return nil, fmt.Errorf("kallsyms: symbol %d: %w", i, err)
		}
		if len(name) < 2 {
			continue
		}
		off := binary.LittleEndian.Uint32(offsets[4*i:])
		addr := base + uint64(off)
		if mixed { // addresses of processors' variables are positive, all others are -1 minus their offset
			if addr = uint64(off); int32(off) < 0 {
				addr = base - 1 - uint64(int64(int32(off)))
			}
		}
		kind := name[0]
		list = append(list, symbol{string(name[1:]), addr, kind == 't' || kind == 'T' || kind == 'w' || kind == 'W'})
	}
	return list, nil
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
