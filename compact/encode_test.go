package compact_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"dbg/arch"
	"dbg/compact"
)

// section is what the tests' encoder makes __unwind_info of.
type section struct {
	common        []uint32
	personalities []uint32
	pages         []page
	end           uint32 // of the sentinel
	noSentinel    bool
	lsdas         []lsda
}

// page is one first-level entry and its page; kind 0 is a null page.
type page struct {
	kind    uint32
	first   uint32
	entries []entry
	local   []uint32
	lsdas   int // number of its first LSDA
}

// entry has an address from the header and an opcode; index is its place in the palettes of a compressed page.
type entry struct {
	addr  uint32
	op    uint32
	index int
}

type lsda struct{ function, addr uint32 }

// layout says where encode put things.
type layout struct{ common, personalities, index, lsdas int }

func (s *section) layout() layout {
	var l layout
	l.common = 28
	l.personalities = l.common + 4*len(s.common)
	l.index = l.personalities + 4*len(s.personalities)
	n := len(s.pages) + 1
	if s.noSentinel {
		n--
	}
	l.lsdas = l.index + 12*n
	return l
}

func (s *section) encode() []byte {
	l := s.layout()
	le := binary.LittleEndian
	var b []byte
	words := func(w ...uint32) {
		for _, v := range w {
			b = le.AppendUint32(b, v)
		}
	}
	words(1, uint32(l.common), uint32(len(s.common)), uint32(l.personalities), uint32(len(s.personalities)),
		uint32(l.index), uint32((l.lsdas-l.index)/12))
	words(s.common...)
	words(s.personalities...)
	at := l.lsdas + 8*len(s.lsdas)
	for _, p := range s.pages {
		off := uint32(at)
		if p.kind == 0 {
			off = 0
		}
		words(p.first, off, uint32(l.lsdas+8*p.lsdas))
		at += len(p.encode())
	}
	if !s.noSentinel {
		words(s.end, 0, uint32(l.lsdas+8*len(s.lsdas)))
	}
	for _, d := range s.lsdas {
		words(d.function, d.addr)
	}
	for _, p := range s.pages {
		b = append(b, p.encode()...)
	}
	return b
}

func (p *page) encode() []byte {
	le := binary.LittleEndian
	var b []byte
	switch p.kind {
	case 0:
		return nil
	case 3:
		b = le.AppendUint32(b, 3)
		b = le.AppendUint16(b, 12)
		b = le.AppendUint16(b, uint16(len(p.entries)))
		b = le.AppendUint16(b, uint16(12+4*len(p.entries)))
		b = le.AppendUint16(b, uint16(len(p.local)))
		for _, e := range p.entries {
			b = le.AppendUint32(b, uint32(e.index)<<24|(e.addr-p.first)&0xffffff)
		}
		for _, op := range p.local {
			b = le.AppendUint32(b, op)
		}
	default:
		b = le.AppendUint32(b, p.kind)
		b = le.AppendUint16(b, 8)
		b = le.AppendUint16(b, uint16(len(p.entries)))
		for _, e := range p.entries {
			b = le.AppendUint32(b, e.addr)
			b = le.AppendUint32(b, e.op)
		}
	}
	return b
}

// function is one entry before the linker packs it.
type function struct {
	addr, op, lsda uint32 // lsda 0 is none
}

const (
	opLSDA     = 1 << 30
	opContinue = 1 << 31
)

// link makes a section as a linker does, with pages of at most size entries; kinds is which kinds of pages it may make.
func link(r *rand.Rand, fs []function, end uint32, size int, kinds ...uint32) *section {
	s := &section{end: end, personalities: []uint32{0x1000, 0x1008, 0x1010}}
	uses := map[uint32]int{}
	for _, f := range fs {
		uses[f.op]++
	}
	for op, n := range uses {
		if n > 1 {
			s.common = append(s.common, op)
		}
	}
	slices.SortFunc(s.common, func(a, b uint32) int {
		if uses[a] != uses[b] {
			return uses[b] - uses[a]
		}
		return int(int64(a) - int64(b))
	})
	if len(s.common) > 127 {
		s.common = s.common[:127]
	}
	for i := 0; i < len(fs); {
		p := page{kind: kinds[r.IntN(len(kinds))], first: fs[i].addr, lsdas: len(s.lsdas)}
		most := 1 + r.IntN(size)
		for ; i < len(fs) && len(p.entries) < most; i++ {
			f := fs[i]
			e := entry{addr: f.addr, op: f.op}
			if p.kind == 3 {
				if f.addr-p.first > 0xffffff {
					break
				}
				if e.index = slices.Index(s.common, f.op); e.index < 0 {
					k := slices.Index(p.local, f.op)
					if k < 0 {
						if len(p.local)+len(s.common) == 256 {
							break
						}
						k = len(p.local)
						p.local = append(p.local, f.op)
					}
					e.index = len(s.common) + k
				}
			}
			if f.lsda != 0 {
				s.lsdas = append(s.lsdas, lsda{f.addr, f.lsda})
			}
			p.entries = append(p.entries, e)
		}
		s.pages = append(s.pages, p)
	}
	return s
}

// randomFunctions makes n functions with opcodes of every kind.
func randomFunctions(r *rand.Rand, a *arch.Arch, n int) (fs []function, end uint32) {
	addr := uint32(0x1000 + r.IntN(1000))
	few := make([]uint32, 40)
	for i := range few {
		few[i] = randomOpcode(r, a).op
	}
	for i := range n {
		f := function{addr: addr, op: few[r.IntN(len(few))]}
		if r.IntN(4) == 0 {
			f.op = randomOpcode(r, a).op
		}
		if r.IntN(3) == 0 {
			f.op |= opLSDA | uint32(1+r.IntN(3))<<28
			f.lsda = 0x100000 + uint32(i)*16
		}
		fs = append(fs, f)
		addr += uint32(1 + r.IntN(300))
		if r.IntN(500) == 0 {
			addr += 1 << 22
		}
	}
	return fs, addr
}

// described is an opcode and what it says.
type described struct {
	op    uint32
	kind  compact.Kind
	size  int64 // CFA above the register; of an indirect one without what the code says
	at    uint64
	fde   uint32
	saved map[arch.Reg]int64 // offsets from the CFA
}

func randomOpcode(r *rand.Rand, a *arch.Arch) described {
	if a == arch.ARM64 {
		return randomARM64(r)
	}
	return randomX86(r, a)
}

func randomX86(r *rand.Rand, a *arch.Arch) described {
	w := int64(a.PtrSize)
	regs := []arch.Reg{arch.RBX, arch.R12, arch.R13, arch.R14, arch.R15, arch.RBP}
	if a == arch.I386 {
		regs = []arch.Reg{3, 1, 2, 7, 6, 5}
	}
	switch r.IntN(5) {
	case 0:
		return described{kind: compact.None}
	case 1:
		fde := r.Uint32N(1 << 24)
		return described{op: 4<<24 | fde, kind: compact.DWARF, fde: fde}
	case 2:
		d := described{kind: compact.Frame, size: 2 * w, saved: map[arch.Reg]int64{a.PC: -w, a.FP: -2 * w}}
		begin := 5 + r.IntN(251)
		d.op = 1<<24 | uint32(begin)<<16
		order := r.Perm(5)
		for slot := range 5 {
			switch r.IntN(4) {
			case 0:
			case 1:
				d.op |= 7 << (3 * slot) // no register either
			default:
				d.op |= uint32(order[slot]+1) << (3 * slot)
				d.saved[regs[order[slot]]] = -2*w - int64(begin-slot)*w
			}
		}
		return d
	}
	n := r.IntN(7)
	order := r.Perm(6)[:n]
	d := described{kind: compact.Frameless, saved: map[arch.Reg]int64{a.PC: -w}}
	d.op = uint32(n)<<10 | encodePermutation(order)
	if n == 6 && r.IntN(2) == 0 {
		d.op |= 7 << 10 // clamped
	}
	for i, k := range order {
		d.saved[regs[k]] = -2*w - int64(n-1-i)*w
	}
	if r.IntN(2) == 0 {
		words := n + 1 + r.IntN(255-n)
		d.size = int64(words) * w
		d.op |= 2<<24 | uint32(words)<<16
		return d
	}
	d.kind = compact.FramelessIndirect
	d.at = uint64(3 + r.IntN(200))
	adjust := r.IntN(8)
	d.size = int64(adjust) * w
	d.op |= 3<<24 | uint32(d.at)<<16 | uint32(adjust)<<13
	return d
}

// encodePermutation is the number of an order of registers (from 0): each digit counts the registers below that are not yet
// used, in a base that shrinks from 6.
func encodePermutation(order []int) uint32 {
	v := 0
	for i, k := range order {
		digit := k
		for _, before := range order[:i] {
			if before < k {
				digit--
			}
		}
		v = v*(6-i) + digit
	}
	return uint32(v)
}

func randomARM64(r *rand.Rand) described {
	a := arch.ARM64
	switch r.IntN(5) {
	case 0:
		return described{kind: compact.None}
	case 1:
		fde := r.Uint32N(1 << 24)
		return described{op: 3<<24 | fde, kind: compact.DWARF, fde: fde}
	}
	d := described{kind: compact.Frameless, op: 2 << 24, saved: map[arch.Reg]int64{}}
	at := int64(0)
	if r.IntN(2) == 0 {
		d.kind, d.op, d.size = compact.Frame, 4<<24, 16
		d.saved[a.LR], d.saved[a.FP] = -8, -16
		at = -16
	}
	for i := range 9 {
		if r.IntN(2) == 0 {
			continue
		}
		bit, reg := i, arch.Reg(19+2*i)
		if i >= 5 {
			bit, reg = i+3, arch.Reg(72+2*(i-5))
		}
		d.op |= 1 << bit
		d.saved[reg], d.saved[reg+1] = at-8, at-16
		at -= 16
	}
	if d.kind == compact.Frameless {
		n := int(-at/16) + r.IntN(4096-int(-at/16))
		d.op |= uint32(n) << 12
		d.size = int64(n) * 16
	}
	return d
}

func newTable(t testing.TB, a *arch.Arch, data []byte, base uint64) *compact.Table {
	t.Helper()
	tab, err := compact.New(compact.Config{Arch: a, Data: data, Base: base})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}
