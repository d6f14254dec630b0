package pdata

import (
	"errors"
	"fmt"

	"dbg/arch"
	"dbg/row"
)

// Values of the two lowest bits of an ARM64 entry's second word.
const (
	flagRecord   = 0 // the word is the RVA of a record in .xdata
	flagPacked   = 1
	flagFragment = 2 // packed, for code without a prologue and an epilogue
)

// record is a decoded .xdata record of ARM64 ("ARM64 exception handling", .xdata records).
type arm64Record struct {
	version   int
	length    int  // of the function, in bytes
	handler   bool // X: there is an exception handler
	single    bool // E: one epilogue, at the end of the function; its first code is epilogues
	epilogues int  // number of scopes, or with single the index of a code
	words     int  // of codes
	scopesAt  uint32
	codesAt   uint32
	after     uint32 // the RVA of what follows the codes: the RVA of the handler
}

// readRecord reads the header of the record at an RVA.
func (t *Table) readRecord(rva uint32) (*arm64Record, error) {
	h := t.record(rva, 4)
	if h == nil {
		return nil, fmt.Errorf("the record at RVA 0x%x is not in the image", rva)
	}
	w := u32(h, 0)
	r := &arm64Record{version: int(w >> 18 & 3), length: 4 * int(w&(1<<18-1)), handler: w>>20&1 != 0, single: w>>21&1 != 0,
		epilogues: int(w >> 22 & 31), words: int(w >> 27), scopesAt: rva + 4}
	if w>>22 == 0 { // the counts do not fit
		h := t.record(rva+4, 4)
		if h == nil {
			return nil, fmt.Errorf("the second word of the record at RVA 0x%x is not in the image", rva)
		}
		w := u32(h, 0)
		r.epilogues, r.words, r.scopesAt = int(w&0xffff), int(w>>16&255), rva+8
	}
	r.codesAt = r.scopesAt
	if !r.single {
		r.codesAt += 4 * uint32(r.epilogues)
	}
	r.after = r.codesAt + 4*uint32(r.words)
	if r.version != 0 {
		return nil, fmt.Errorf("unsupported version %d of the record at RVA 0x%x", r.version, rva)
	}
	return r, nil
}

// arm64 makes the rows of an entry of ARM64.
func (b *builder) arm64() error {
	switch b.entry.Unwind & 3 {
	case flagRecord:
		return b.arm64Record(b.entry.Unwind)
	case flagPacked, flagFragment:
		return b.packed(b.entry.Unwind)
	}
	return errors.New("its flag has the reserved value 3")
}

// arm64Record makes the rows of an entry that has a record.
func (b *builder) arm64Record(rva uint32) error {
	x, err := b.t.readRecord(rva)
	if err != nil {
		return err
	}
	bytes := b.t.record(x.codesAt, 4*x.words)
	if bytes == nil {
		return fmt.Errorf("the %d words of codes at RVA 0x%x are not in the image", x.words, x.codesAt)
	}
	codes, err := readCodes(bytes)
	if err != nil {
		return err
	}
	n := instructions(codes)
	if err := b.codeRows(codes, b.entry.Lo, n); err != nil {
		return err
	}
	body, err := b.arm64Row(codes, 0)
	if err != nil {
		return err
	}
	at := b.entry.Lo + min(4*uint64(n), b.entry.Hi-b.entry.Lo)
	if x.single {
		at, err = b.singleEpilogue(x, bytes, at, body)
	} else {
		at, err = b.epilogueScopes(x, bytes, at, body)
	}
	b.add(at, b.entry.Hi, body)
	return err
}

// singleEpilogue adds the rows of the body, which begins at an address, and of the epilogue at the
// end of the function. It returns where they end.
func (b *builder) singleEpilogue(x *arm64Record, bytes []byte, at uint64, body *row.Row) (uint64, error) {
	if x.epilogues > len(bytes) {
		return at, fmt.Errorf("the epilogue's first code %d is not among the %d bytes of codes", x.epilogues, len(bytes))
	}
	codes, err := readCodes(bytes[x.epilogues:])
	if err != nil {
		return at, err
	}
	n := instructions(codes)
	size := 4 * uint64(n+1)
	if size > b.entry.Hi-b.entry.Lo {
		return at, errors.New("its epilogue is larger than the function")
	}
	start := max(at, b.entry.Hi-size)
	b.add(at, start, body)
	return b.epilogueRows(codes, n, b.entry.Hi-size, start)
}

// epilogueScopes adds the rows of the body, which begins at an address, and of the epilogues in it.
// It returns where they end.
func (b *builder) epilogueScopes(x *arm64Record, bytes []byte, at uint64, body *row.Row) (uint64, error) {
	scopes := b.t.record(x.scopesAt, 4*x.epilogues)
	if scopes == nil && x.epilogues > 0 {
		return at, fmt.Errorf("the %d epilogue scopes at RVA 0x%x are not in the image", x.epilogues, x.scopesAt)
	}
	last := b.entry.Lo
	for i := range x.epilogues {
		w := u32(scopes, 4*i)
		start, index := b.entry.Lo+4*uint64(w&(1<<18-1)), int(w>>22)
		switch {
		case start < last || start >= b.entry.Hi:
			return at, fmt.Errorf("epilogue %d begins at offset 0x%x, out of order or after the function", i, start-b.entry.Lo)
		case index > len(bytes):
			return at, fmt.Errorf("epilogue %d has its first code at %d of %d bytes", i, index, len(bytes))
		}
		codes, err := readCodes(bytes[index:])
		if err != nil {
			// MSVC writes no end after the codes of an epilogue in the middle of a function. What is left of
			// the frame there is not known, but the rest of the function is.
			b.defect = fmt.Errorf("epilogue %d: %w", i, err)
			b.add(at, start, body)
			last, at = start, max(at, min(b.entry.Hi, start+4*uint64(instructions(codes)+1)))
			continue
		}
		if b.steps += len(codes); b.steps > maxSteps {
			return at, errSteps
		}
		last = start
		begin := max(at, start)
		b.add(at, begin, body)
		// A later scope takes over where it begins.
		hi := b.entry.Hi
		if i+1 < x.epilogues {
			hi = min(hi, max(begin, b.entry.Lo+4*uint64(u32(scopes, 4*i+4)&(1<<18-1))))
		}
		n := instructions(codes)
		if room := (hi - start) / 4; uint64(n)+1 > room {
			n = max(0, int(room)-1)
		}
		if at, err = b.epilogueRows(codes, n, start, begin); err != nil {
			return at, err
		}
	}
	return at, nil
}

// epilogueRows adds the rows of an epilogue of n instructions and a last one, from an address on. It
// returns where they end.
func (b *builder) epilogueRows(codes []unwindCode, n int, start, from uint64) (uint64, error) {
	for i := range n + 1 {
		lo := start + 4*uint64(i)
		if lo < from {
			continue
		}
		r, err := b.arm64Row(codes, i)
		if err != nil {
			return lo, err
		}
		b.add(lo, min(lo+4, b.entry.Hi), r)
	}
	return max(from, min(start+4*uint64(n+1), b.entry.Hi)), nil
}

// codeRows adds the rows of a prologue of n instructions.
func (b *builder) codeRows(codes []unwindCode, lo uint64, n int) error {
	for i := range n {
		at := lo + 4*uint64(i)
		if at >= b.entry.Hi {
			return nil
		}
		r, err := b.arm64Row(codes, n-i)
		if err != nil {
			return err
		}
		b.add(at, min(at+4, b.entry.Hi), r)
	}
	return nil
}

// arm64Row returns the row where the codes of the first skip instructions are not to be undone.
func (b *builder) arm64Row(codes []unwindCode, skip int) (*row.Row, error) {
	if err := b.undoCodes(codes, skip); err != nil {
		return nil, err
	}
	var r row.Row
	b.state.fill(&r, 0)
	return &r, nil
}

// frameLayout tells where the registers are in a structure on the stack.
type frameLayout []savedReg

// machineFrameLayout is what the kernel pushes for MSFT_OP_MACHINE_FRAME: SP and PC. LR and the other
// registers are those of the interrupted code.
var machineFrameLayout = frameLayout{{31, place{off: 0}}, {arch.ARM64.PC, place{off: 8}}, {30, place{reg: arch.NoReg}}}

// contextLayout is the layout of ARM64_NT_CONTEXT (<winnt.h>).
func contextLayout() (l frameLayout) {
	at := func(reg arch.Reg, off int64) { l = append(l, savedReg{reg, place{off: off}}) }
	for i := range arch.Reg(31) { // X0 to X28, Fp, Lr
		at(i, 8+8*int64(i))
	}
	at(31, 0x100)
	at(arch.ARM64.PC, 0x108)
	for i := range arch.Reg(32) {
		at(arm64D0+i, 0x110+16*int64(i))
	}
	return l
}

// ecContextLayout is the layout of ARM64EC_NT_CONTEXT (<winnt.h>): that of x64's CONTEXT, in which
// each register of ARM64EC takes the place of the one that it stands for. Registers that ARM64EC code
// may not use are not in it.
func ecContextLayout() (l frameLayout) {
	at := func(reg arch.Reg, off int64) { l = append(l, savedReg{reg, place{off: off}}) }
	for i, reg := range []arch.Reg{8, 0, 1, 27, 31, 29, 25, 26, 2, 3, 4, 5, 19, 20, 21, 22, arch.ARM64.PC} { // Rax, Rcx, Rdx … Rip
		at(reg, 0x78+8*int64(i))
	}
	for i, reg := range []arch.Reg{30, 6, 7, 9, 10, 11, 12, 15} { // in the mantissas of the x87 registers
		at(reg, 0x120+16*int64(i))
	}
	for i := range arch.Reg(16) {
		at(arm64D0+i, 0x1a0+16*int64(i))
	}
	return l
}

// arm64Frame undoes a structure at the stack pointer that has registers of the interrupted code. The
// CFA is its address.
func (s *state) arm64Frame(l frameLayout) error {
	if s.ended {
		return errAfterFrame
	}
	for _, g := range l {
		if g.at.reg == arch.NoReg {
			continue
		}
		s.set(g.reg, place{s.sp.reg, s.sp.off + g.at.off})
	}
	s.ra = s.arch.PC
	s.ended, s.precise = true, true
	return nil
}
