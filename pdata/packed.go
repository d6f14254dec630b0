package pdata

import (
	"errors"

	"dbg/arch"
)

// packedData holds the fields of an ARM64 entry with packed unwind data ("ARM64 exception handling",
// Packed unwind data).
type packedData struct {
	fragment   bool
	length     int // of the function, in bytes
	regF, regI int
	homed      bool
	cr         int
	frameSize  int64 // in bytes
}

// Values of the field CR.
const (
	crUnchained   = 0
	crUnchainedLR = 1
	crChainedPAC  = 2
	crChained     = 3
)

func unpack(w uint32) packedData {
	return packedData{fragment: w&3 == flagFragment, length: 4 * int(w>>2&0x7ff), regF: int(w >> 13 & 7), regI: int(w >> 16 & 15),
		homed: w>>20&1 != 0, cr: int(w >> 21 & 3), frameSize: 16 * int64(w>>23)}
}

var (
	errPackedSize = errors.New("its packed data gives a frame that is smaller than the registers saved in it")
	errPackedRegI = errors.New("its packed data saves more than ten registers")
)

// maxSub is the largest number that the canonical prologue subtracts at once.
const maxSub = 4080

// prologue returns the instructions of the canonical prologue in their order, as unwind codes. The
// steps are those of the specification's table.
func (p *packedData) prologue() ([]unwindCode, error) {
	intSize, fpSize := int64(8*p.regI), int64(8*p.regF)
	if p.cr == crUnchainedLR {
		intSize += 8
	}
	if p.regF > 0 {
		fpSize += 8
	}
	saved := intSize + fpSize
	if p.homed {
		saved += 64
	}
	saved = (saved + 15) &^ 15
	local := p.frameSize - saved
	chained := p.cr == crChained || p.cr == crChainedPAC
	switch {
	case p.regI > 10:
		return nil, errPackedRegI
	case local < 0 || chained && local < 16:
		return nil, errPackedSize
	}
	var list []unwindCode
	if p.cr == crChainedPAC {
		list = append(list, unwindCode{kind: codePAC})
	}
	list = p.saves(list, intSize, saved)
	// Step 5, 6: the rest of the frame.
	const fp, lr = 29, 30
	setFP := unwindCode{kind: codeSetFP}
	if chained && local <= 512 {
		return append(list, pair(fp, lr, local, true), setFP), nil
	}
	if local > maxSub {
		list = append(list, unwindCode{kind: codeAlloc, n: maxSub})
		local -= maxSub
	}
	if local > 0 {
		list = append(list, unwindCode{kind: codeAlloc, n: local})
	}
	if chained {
		list = append(list, pair(fp, lr, 0, false), setFP)
	}
	return list, nil
}

func pair(reg, second arch.Reg, n int64, pre bool) unwindCode {
	return unwindCode{kind: codeSave, reg: reg, second: second, n: n, pre: pre}
}

// saves appends the instructions that save registers. The first one allocates the area for all.
func (p *packedData) saves(list []unwindCode, intSize, saved int64) []unwindCode {
	const lr = 30
	first := true
	add := func(reg, second arch.Reg, at int64) {
		if first {
			at = saved
		}
		list = append(list, pair(reg, second, at, first))
		first = false
	}
	i := 0
	for ; i+1 < p.regI; i += 2 {
		add(19+arch.Reg(i), 20+arch.Reg(i), 8*int64(i))
	}
	switch odd := i < p.regI; {
	case odd && p.cr == crUnchainedLR && first:
		// No unwind code stores x19 and lr with a pre-index: MSVC writes two instructions.
		list = append(list, unwindCode{kind: codeAlloc, n: saved}, pair(19, lr, 0, false))
		first = false
	case odd && p.cr == crUnchainedLR:
		add(19+arch.Reg(i), lr, 8*int64(i))
	case odd:
		add(19+arch.Reg(i), arch.NoReg, 8*int64(i))
	case p.cr == crUnchainedLR:
		add(lr, arch.NoReg, intSize-8)
	}
	if p.regF > 0 {
		n := p.regF + 1
		for k := 0; k < n; k += 2 {
			second := arm64D0 + 9 + arch.Reg(k)
			if k+1 == n {
				second = arch.NoReg
			}
			add(arm64D0+8+arch.Reg(k), second, intSize+8*int64(k))
		}
	}
	if p.homed {
		for k := range 4 {
			c := unwindCode{kind: codeNop}
			if first && k == 0 {
				c = unwindCode{kind: codeAlloc, n: saved} // stp x0, x1, [sp, #-saved]!
			}
			list = append(list, c)
		}
	}
	return list
}

// packed makes the rows of an entry with packed data.
func (b *builder) packed(word uint32) error {
	p := unpack(word)
	forward, err := p.prologue()
	if err != nil {
		return err
	}
	codes := make([]unwindCode, 0, len(forward)+1)
	for i := len(forward) - 1; i >= 0; i-- {
		codes = append(codes, forward[i])
	}
	codes = append(codes, unwindCode{kind: codeEnd})
	body, err := b.arm64Row(codes, 0)
	if err != nil {
		return err
	}
	lo, hi := b.entry.Lo, b.entry.Hi
	if p.fragment {
		b.add(lo, hi, body)
		return nil
	}
	if err := b.codeRows(codes, lo, len(forward)); err != nil {
		return err
	}
	lo = min(hi, lo+4*uint64(len(forward)))
	// The epilogue mirrors the prologue without the instructions that set x29 and home parameters.
	epilogue := codes[:0:0]
	for _, c := range codes {
		if c.kind != codeSetFP && c.kind != codeNop {
			epilogue = append(epilogue, c)
		}
	}
	n := instructions(epilogue)
	size := 4 * uint64(n+1)
	if size > hi-b.entry.Lo {
		return errors.New("its epilogue is larger than the function")
	}
	start := max(lo, hi-size)
	b.add(lo, start, body)
	at, err := b.epilogueRows(epilogue, n, hi-size, start)
	b.add(at, hi, body)
	return err
}
