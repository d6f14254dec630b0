package pdata_test

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/row"
)

// x64Function is a random function of x64: its prologue as unwind codes, and its epilogue as code.
type x64Function struct {
	steps    []x64Step
	pushed   []uint8 // registers in machine order
	depth    int64   // bytes on the stack after the prologue, without the return address
	allocs   int64
	fp       uint8 // frame register, or 0
	fpOffset int64 // the frame register is the stack pointer plus this
	prologue int
}

// x64Step is an instruction of a prologue. depth is that after it.
type x64Step struct {
	at    int // offset after the instruction
	code  []byte
	depth int64
	reg   arch.Reg // saved at CFA+place, unless it is NoReg
	place int64
	setFP bool
}

// x64Machine are the registers in machine order that functions preserve, and their DWARF numbers.
var x64Machine = map[uint8]arch.Reg{3: arch.RBX, 5: arch.RBP, 6: arch.RSI, 7: arch.RDI, 12: arch.R12, 13: arch.R13, 14: arch.R14, 15: arch.R15}

func randomX64(r *rand.Rand) *x64Function {
	f := &x64Function{}
	order := []uint8{3, 5, 6, 7, 12, 13, 14, 15}
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	step := func(code []byte, reg arch.Reg, place int64) {
		f.prologue += 1 + r.IntN(4)
		code[0] = byte(f.prologue)
		f.steps = append(f.steps, x64Step{at: f.prologue, code: code, depth: f.depth, reg: reg, place: place})
	}
	pushes := r.IntN(5)
	for _, reg := range order[:pushes] {
		f.depth += 8
		step([]byte{0, reg << 4}, x64Machine[reg], -8-f.depth)
		f.pushed = append(f.pushed, reg)
	}
	for range r.IntN(3) {
		var n int64
		var code []byte
		switch r.IntN(3) {
		case 0:
			n = 8 + 8*r.Int64N(16)
			code = []byte{0, 2 | byte(n/8-1)<<4}
		case 1:
			n = 8 + 8*r.Int64N(1<<16-1)
			code = binary.LittleEndian.AppendUint16([]byte{0, 1}, uint16(n/8))
		default:
			n = 8 * r.Int64N(1<<20)
			code = binary.LittleEndian.AppendUint32([]byte{0, 1 | 1<<4}, uint32(n))
		}
		f.depth += n
		f.allocs += n
		step(code, arch.NoReg, 0)
	}
	if r.IntN(2) == 0 && pushes > 0 {
		f.fp, f.fpOffset = f.pushed[r.IntN(pushes)], 16*r.Int64N(16)
		step([]byte{0, 3}, arch.NoReg, 0)
		f.steps[len(f.steps)-1].setFP = true
	}
	for _, reg := range order[pushes : pushes+r.IntN(4)] {
		n := 8 * r.Int64N(1<<16)
		code := binary.LittleEndian.AppendUint16([]byte{0, 4 | reg<<4}, uint16(n/8))
		if r.IntN(3) == 0 {
			n = r.Int64N(1 << 24)
			code = binary.LittleEndian.AppendUint32([]byte{0, 5 | reg<<4}, uint32(n))
		}
		step(code, x64Machine[reg], n-8-f.depth)
	}
	for x := range uint8(r.IntN(3)) {
		n := 16 * r.Int64N(1<<16)
		code := binary.LittleEndian.AppendUint16([]byte{0, 8 | (6+x)<<4}, uint16(n/16))
		if r.IntN(3) == 0 {
			n = r.Int64N(1 << 24)
			code = binary.LittleEndian.AppendUint32([]byte{0, 9 | (6+x)<<4}, uint32(n))
		}
		step(code, arch.XMM0+arch.Reg(6+x), n-8-f.depth)
	}
	return f
}

// info is the unwind information for the steps from one on, the last one first. flags are 4 for a record
// that is chained to another.
func (f *x64Function) info(version byte, from, to int, flags byte) []byte {
	var codes []byte
	for i := to - 1; i >= from; i-- {
		codes = append(codes, f.steps[i].code...)
	}
	slots := len(codes) / 2
	if slots%2 != 0 {
		codes = append(codes, 0, 0)
	}
	prologue := 0
	if to > from {
		prologue = f.steps[to-1].at
	}
	return append([]byte{version | flags<<3, byte(prologue), byte(slots), f.fp | byte(f.fpOffset/16)<<4}, codes...)
}

// text is what the row at an offset of the prologue or the body must be.
func (f *x64Function) text(off int) string {
	r := row.Row{RA: arch.RIP}
	r.Set(arch.RIP, row.Rule{Kind: row.At, N: -8})
	r.CFA = row.Rule{Kind: row.InReg, Reg: arch.RSP, N: 8}
	for i := range f.steps {
		s := &f.steps[i]
		if s.at > off {
			break
		}
		if r.CFA.Reg == arch.RSP {
			r.CFA.N = 8 + s.depth
		}
		if s.setFP {
			r.CFA = row.Rule{Kind: row.InReg, Reg: x64Machine[f.fp], N: 8 + s.depth - f.fpOffset}
		}
		if s.reg != arch.NoReg {
			r.Set(s.reg, row.Rule{Kind: row.At, N: s.place})
		}
	}
	_, text, _ := strings.Cut(r.Format(arch.AMD64), " ")
	return text
}

// epilogue is the code that takes down the frame, and what the row at each of its instructions must be.
func (f *x64Function) epilogue() (code []byte, want []string, at []int) {
	r := row.Row{RA: arch.RIP}
	r.Set(arch.RIP, row.Rule{Kind: row.At, N: -8})
	pushed := int64(8 * len(f.pushed))
	for i, reg := range f.pushed {
		r.Set(x64Machine[reg], row.Rule{Kind: row.At, N: -8 - 8*int64(i+1)})
	}
	note := func(cfa row.Rule) {
		r.CFA = cfa
		_, text, _ := strings.Cut(r.Format(arch.AMD64), " ")
		want, at = append(want, text), append(at, len(code))
	}
	switch {
	case f.fp != 0: // lea rsp, [fp+disp32]
		disp := f.depth - f.fpOffset - pushed
		note(row.Rule{Kind: row.InReg, Reg: x64Machine[f.fp], N: disp + pushed + 8})
		code = append(code, 0x48|f.fp>>3, 0x8d, 0xa0|f.fp&7)
		if f.fp&7 == 4 {
			code = append(code, 0x24)
		}
		code = binary.LittleEndian.AppendUint32(code, uint32(disp))
	case f.allocs > 0: // add rsp, imm32
		note(row.Rule{Kind: row.InReg, Reg: arch.RSP, N: f.depth + 8})
		code = binary.LittleEndian.AppendUint32(append(code, 0x48, 0x81, 0xc4), uint32(f.allocs))
	}
	for i := len(f.pushed) - 1; i >= 0; i-- {
		note(row.Rule{Kind: row.InReg, Reg: arch.RSP, N: 8 + 8*int64(i+1)})
		if reg := f.pushed[i]; reg > 7 {
			code = append(code, 0x41, 0x58|reg&7)
		} else {
			code = append(code, 0x58|reg)
		}
		r.Set(x64Machine[f.pushed[i]], row.Rule{})
	}
	note(row.Rule{Kind: row.InReg, Reg: arch.RSP, N: 8})
	return append(code, 0xc3), want, at
}

// TestAMD64RoundTrip encodes random prologues with every operation, and asks for the row at every byte of the prologue, of the
// body, and at every instruction of the epilogue: in one record, and in one that is chained to another.
func TestAMD64RoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 64))
	for n := range 4000 {
		f := randomX64(r)
		text := make([]byte, 0x200)
		for i := range text {
			text[i] = 0x90
		}
		code, want, at2 := f.epilogue()
		copy(text[0x100:], code)
		memory := map[uint32][]byte{0x1000: text}
		version := byte(1 + n%2)
		chained := n%3 == 0 && len(f.steps) > 1
		data := words(0x1000, 0x1200, 0x2000)
		memory[0x2000] = f.info(version, 0, len(f.steps), 0)
		if chained { // the second part of the function, after its whole prologue
			data = append(words(0x1000, 0x1080, 0x2000), words(0x1080, 0x1200, 0x3000)...)
			memory[0x3000] = append(f.info(version, 0, 0, 4), words(0x1000, 0x1080, 0x2000)...)
		}
		tab := newTable(t, arch.AMD64, data, memory)
		check := func(off int, want string) {
			t.Helper()
			if got := at(tab, arch.AMD64, uint64(off)); got != want {
				t.Fatalf("%d, version %d, chained %v, offset 0x%x: got %s, want %s\n% x", n, version, chained, off, got, want, memory[0x2000])
			}
		}
		for off := 0; off <= f.prologue; off++ {
			check(off, f.text(off))
		}
		for _, off := range []int{0x7f, 0x80, 0xff} {
			check(off, f.text(off))
		}
		for i := range want {
			check(0x100+at2[i], want[i])
		}
		check(0x100+len(code), f.text(0x1ff))
	}
}
