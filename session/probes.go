package session

import (
	"encoding/binary"
	"strconv"
	"strings"

	"dbg/arch"
	"dbg/image"
	"dbg/target"
)

// probe is a place that a library marks for debuggers, with the places of its operands.
type probe struct {
	addr     image.Addr
	operands []probeOperand
}

// probeOperand is an operand of a probe: a register, or the memory at a register plus an offset.
type probeOperand struct {
	reg    arch.Reg
	offset int64
	memory bool
	known  bool
}

// probesIn finds the probes of a name in a file's notes: sys/sdt.h of SystemTap, note type 3. A
// description holds three addresses, then the provider, the name and the operands as strings. The
// semaphore, the third address, is not counted up: the libraries' probes report without it.
func probesIn(f *image.File, provider, name string) (out []probe) {
	sec, ok := f.Section(".note.stapsdt")
	if !ok || f.BigEndian() || !f.Is64() {
		return nil
	}
	var moved uint64 // by a tool that has moved the file's sections, and not the notes
	base, hasBase := f.Section(".stapsdt.base")
	le := binary.LittleEndian
	for b := sec.Data; len(b) >= 12; {
		n, d, typ := uint64(le.Uint32(b)), uint64(le.Uint32(b[4:])), le.Uint32(b[8:])
		from := 12 + (n+3)&^3
		end := from + d
		if end > uint64(len(b)) {
			break
		}
		desc := b[from:end]
		b = b[min(uint64(len(b)), (end+3)&^3):]
		if typ != 3 || d < 24 {
			continue
		}
		words := strings.SplitN(string(desc[24:]), "\x00", 4)
		if len(words) < 3 || words[0] != provider || words[1] != name {
			continue
		}
		if recorded := le.Uint64(desc[8:]); hasBase && recorded != 0 {
			moved = uint64(base.Addr) - recorded
		}
		p := probe{addr: image.Addr(le.Uint64(desc) + moved)}
		for _, op := range strings.Fields(words[2]) {
			p.operands = append(p.operands, parseProbeOperand(op))
		}
		out = append(out, p)
	}
	return out
}

// parseProbeOperand parses "8@%rdi" and "8@-80(%rbx)". An operand of another size is unknown.
func parseProbeOperand(text string) (op probeOperand) {
	text, ok := strings.CutPrefix(text, "8@")
	if !ok {
		return op
	}
	name := text
	if i := strings.IndexByte(text, '('); i >= 0 {
		var err error
		if op.offset, err = strconv.ParseInt("0"+strings.TrimPrefix(text[:i], "-"), 10, 32); err != nil {
			return op
		}
		if strings.HasPrefix(text, "-") {
			op.offset = -op.offset
		}
		op.memory, name = true, strings.TrimSuffix(text[i+1:], ")")
	}
	reg, ok := arch.AMD64.RegByName(strings.TrimPrefix(name, "%"))
	op.reg, op.known = reg, ok && strings.HasPrefix(name, "%")
	return op
}

// value reads an operand.
func (op *probeOperand) value(regs *arch.Registers, mem target.Memory) (uint64, bool) {
	if !op.known {
		return 0, false
	}
	v, ok := regs.Get(op.reg)
	if op.memory && ok {
		return wordAt(mem, v+uint64(op.offset))
	}
	return v, ok
}

// wordAt reads eight bytes.
func wordAt(mem target.Memory, a uint64) (uint64, bool) {
	var b [8]byte
	n, _ := mem.ReadMemory(target.Addr(a), b[:])
	return binary.LittleEndian.Uint64(b[:]), n == len(b)
}
