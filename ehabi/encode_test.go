package ehabi_test

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"dbg/arch"
	"dbg/ehabi"
	"dbg/row"
)

// Where the sections of the tests are.
const (
	indexAt = 0x20000
	extabAt = 0x18000
	codeEnd = 0x10000
)

// function is what the encoder makes an entry of.
type function struct {
	addr        uint32
	model       ehabi.Model
	index       uint8  // of Compact
	personality uint32 // of Generic
	code        []byte
	data        []byte // after the instructions
}

// encode makes .ARM.exidx and .ARM.extab.
func encode(fs []function) (exidx, extab []byte) {
	le := binary.LittleEndian
	rel := func(to, at uint32) uint32 { return (to - at) & 0x7fffffff }
	for i, f := range fs {
		at := uint32(indexAt + 8*i)
		exidx = le.AppendUint32(exidx, rel(f.addr, at))
		code := append([]byte(nil), f.code...)
		pad := func(n int) {
			for len(code)%4 != n%4 || len(code) < n {
				code = append(code, 0xb0)
			}
		}
		head := uint32(0x80 | f.index)
		second := rel(extabAt+uint32(len(extab)), at+4)
		switch {
		case f.model == ehabi.CantUnwind:
			exidx = le.AppendUint32(exidx, 1)
			continue
		case f.model == ehabi.Inline:
			pad(3)
			exidx = le.AppendUint32(exidx, 0x80<<24|uint32(code[0])<<16|uint32(code[1])<<8|uint32(code[2]))
			continue
		case f.model == ehabi.Generic:
			extab = le.AppendUint32(extab, rel(f.personality, extabAt+uint32(len(extab))))
			pad(3)
			head = uint32(len(code) / 4)
		case f.index == 0:
			pad(3)
		default:
			pad(2)
			code = append([]byte{byte((len(code) - 2) / 4)}, code...)
		}
		exidx = le.AppendUint32(exidx, second)
		code = append([]byte{byte(head)}, code...)
		for ; len(code) > 0; code = code[4:] {
			extab = le.AppendUint32(extab, binary.BigEndian.Uint32(code))
		}
		extab = append(extab, f.data...)
		for len(extab)%4 != 0 {
			extab = append(extab, 0)
		}
	}
	return exidx, extab
}

// tableOf makes a table.
func tableOf(exidx, extab []byte) *ehabi.Table {
	t, err := ehabi.New(ehabi.Config{Data: exidx, Addr: indexAt, End: codeEnd, Bytes: func(addr uint64, n int) []byte {
		if addr-extabAt >= uint64(len(extab)) {
			return nil
		}
		b := extab[addr-extabAt:]
		return b[:min(n, len(b))]
	}})
	if err != nil {
		panic(err)
	}
	return t
}

// machine is the specification's virtual register set with numbers in it: it executes instructions
// one after the other, on a stack where the word at address a is a*3+1.
type machine struct {
	core [16]uint32
	d    map[int]uint64 // the addresses of the D registers that were popped
}

func wordAt(a uint32) uint32 { return a*3 + 1 }

// pop pops core registers. SP changes at the end.
func (m *machine) pop(mask uint16) {
	at := m.core[13]
	for r := range 16 {
		if mask&(1<<r) == 0 {
			continue
		}
		if v := wordAt(at); r != 13 {
			m.core[r] = v
		} else {
			defer func() { m.core[13] = v }()
		}
		at += 4
	}
	m.core[13] = at
}

func (m *machine) popD(first, n int) {
	for i := range n {
		m.d[first+i] = uint64(m.core[13])
		m.core[13] += 8
	}
}

// instruction is the encoding of a random instruction and its effect.
type instruction struct {
	bytes []byte
	run   func(m *machine)
	pc    bool // it pops PC: nothing may depend on LR any more
	sets  bool // it sets vsp to another register or word
}

// randomInstruction makes any instruction of EHABI32's table that unwinds.
func randomInstruction(r *rand.Rand) instruction {
	n, c := r.IntN(16), r.IntN(16)
	vsp := func(d int32) func(m *machine) { return func(m *machine) { m.core[13] += uint32(d) } }
	switch r.IntN(20) {
	case 0:
		x := r.IntN(64)
		return instruction{bytes: []byte{byte(x)}, run: vsp(int32(4*x + 4))}
	case 1:
		x := r.IntN(64)
		return instruction{bytes: []byte{0x40 | byte(x)}, run: vsp(-int32(4*x + 4))}
	case 2, 3:
		mask := uint16(1 + r.IntN(1<<12-1))
		return instruction{bytes: []byte{0x80 | byte(mask>>8), byte(mask)}, run: func(m *machine) { m.pop(mask << 4) },
			pc: mask&0x800 != 0, sets: mask&0x200 != 0}
	case 4:
		for n == 13 || n == 15 {
			n = r.IntN(16)
		}
		return instruction{bytes: []byte{0x90 | byte(n)}, run: func(m *machine) { m.core[13] = m.core[n] }, sets: true}
	case 5:
		x := r.IntN(8)
		return instruction{bytes: []byte{0xa0 | byte(x)}, run: func(m *machine) { m.pop((2<<x - 1) << 4) }}
	case 6:
		x := r.IntN(8)
		return instruction{bytes: []byte{0xa8 | byte(x)}, run: func(m *machine) { m.pop((2<<x-1)<<4 | 1<<14) }}
	case 7:
		mask := uint16(1 + r.IntN(15))
		return instruction{bytes: []byte{0xb1, byte(mask)}, run: func(m *machine) { m.pop(mask) }}
	case 8:
		x := r.Uint32N(1 << (7 * (1 + r.Uint32N(3))))
		b := []byte{0xb2}
		for v := x; ; {
			if v < 0x80 {
				b = append(b, byte(v))
				break
			}
			b, v = append(b, byte(v)|0x80), v>>7
		}
		return instruction{bytes: b, run: vsp(0x204 + int32(x<<2))}
	case 9, 10:
		c %= 16 - n
		return instruction{bytes: []byte{0xb3, byte(n<<4 | c)}, run: func(m *machine) { m.popD(n, c+1); vsp(4)(m) }}
	case 11:
		return instruction{bytes: []byte{0xb8 | byte(c&7)}, run: func(m *machine) { m.popD(8, c&7+1); vsp(4)(m) }}
	case 12:
		return instruction{bytes: []byte{0xc0 | byte(c%6)}, run: vsp(8 * int32(c%6+1))}
	case 13:
		c %= 16 - n
		return instruction{bytes: []byte{0xc6, byte(n<<4 | c)}, run: vsp(8 * int32(c+1))}
	case 14:
		mask := 1 + r.IntN(15)
		return instruction{bytes: []byte{0xc7, byte(mask)}, run: vsp(4 * int32(bits.OnesCount(uint(mask))))}
	case 15:
		c %= 16 - n
		return instruction{bytes: []byte{0xc8, byte(n<<4 | c)}, run: func(m *machine) { m.popD(16+n, c+1) }}
	case 16:
		return instruction{bytes: []byte{0xc9, byte(n<<4 | c)}, run: func(m *machine) { m.popD(n, c+1) }}
	case 17:
		return instruction{bytes: []byte{0xd0 | byte(c&7)}, run: func(m *machine) { m.popD(8, c&7+1) }}
	case 18:
		return instruction{bytes: []byte{0xb4}, run: vsp(4)}
	}
	return instruction{bytes: []byte{0xb5}, run: func(*machine) {}}
}

// randomCode makes a sequence of instructions, and the machine after it. vsp is set anew at most twice.
func randomCode(r *rand.Rand, most int, start [16]uint32) ([]byte, *machine) {
	m := &machine{core: start, d: map[int]uint64{}}
	var code []byte
	sets := 0
	for range r.IntN(8) {
		in := randomInstruction(r)
		if in.sets {
			if sets++; sets > 2 {
				continue
			}
		}
		if len(code)+len(in.bytes) > most {
			break
		}
		in.run(m)
		code = append(code, in.bytes...)
	}
	return code, m
}

// describe is the effect of a row in the tests' words, from its rules alone.
func describe(w *row.Row, start [16]uint32, env *row.Env) (core map[arch.Reg]uint32, d map[int]uint64, err error) {
	var c row.Caller
	if err := row.Apply(w, env, &c); err != nil {
		return nil, nil, err
	}
	core, d = map[arch.Reg]uint32{13: uint32(c.SP), 15: uint32(c.PC)}, map[int]uint64{}
	for reg := range arch.Reg(96) {
		v, ok := c.Get(reg)
		switch {
		case !ok:
		case reg >= 64:
			d[int(reg-64)] = v
		case reg < 13:
			core[reg] = uint32(v)
		}
	}
	return core, d, nil
}

// lookups are addresses of interest of a table.
func lookups(fs []function) (list []uint64) {
	for _, f := range fs {
		list = append(list, uint64(f.addr)-1, uint64(f.addr), uint64(f.addr)+1)
	}
	slices.Sort(list)
	return append(list, 0, codeEnd-1, codeEnd, 1<<32-1, 1<<63)
}

// String is for failures.
func (f function) String() string { return fmt.Sprintf("%s %d % x", f.model, f.index, f.code) }
