package pdata_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"dbg/arch"
)

// step is one instruction of an ARM64 prologue: its unwind code, what it does to the stack pointer,
// and which registers it saves where above the new stack pointer.
type step struct {
	code  []byte
	alloc int64
	saves map[int]int64 // 64+n for d registers
	setFP int64         // the frame pointer is the stack pointer plus this; -1 if it is not set
	pac   bool
}

// randomStep makes a step with one of all codes that the body of a function may have.
func randomStep(r *rand.Rand) step {
	s := step{setFP: -1, saves: map[int]int64{}}
	z6, z5 := int64(r.IntN(64)), int64(r.IntN(32))
	x := r.IntN(10)
	two := func(v int64) { s.code = []byte{byte(v >> 8), byte(v)} }
	one := func(reg int, at int64) { s.saves[reg] = at }
	both := func(reg int, at int64) { one(reg, at); one(reg+1, at+8) }
	switch r.IntN(18) {
	case 0:
		s.code, s.alloc = []byte{byte(z5)}, 16*z5
	case 1:
		s.code, s.alloc = []byte{0x20 | byte(z5)}, 8*z5
		both(19, 0)
	case 2:
		s.code = []byte{0x40 | byte(z6)}
		both(29, 8*z6)
	case 3:
		s.code, s.alloc = []byte{0x80 | byte(z6)}, 8*z6+8
		both(29, 0)
	case 4:
		n := int64(r.IntN(2048))
		two(0xc000 | n)
		s.alloc = 16 * n
	case 5:
		two(0xc800 | int64(x)<<6 | z6)
		both(19+x, 8*z6)
	case 6:
		two(0xcc00 | int64(x)<<6 | z6)
		s.alloc = 8*z6 + 8
		both(19+x, 0)
	case 7:
		two(0xd000 | int64(x)<<6 | z6)
		one(19+x, 8*z6)
	case 8:
		two(0xd400 | int64(x)<<5 | z5)
		s.alloc = 8*z5 + 8
		one(19+x, 0)
	case 9:
		two(0xd600 | int64(x/2)<<6 | z6)
		one(19+x/2*2, 8*z6)
		one(30, 8*z6+8)
	case 10:
		two(0xd800 | int64(x%7)<<6 | z6)
		both(72+x%7, 8*z6)
	case 11:
		two(0xda00 | int64(x%7)<<6 | z6)
		s.alloc = 8*z6 + 8
		both(72+x%7, 0)
	case 12:
		two(0xdc00 | int64(x%8)<<6 | z6)
		one(72+x%8, 8*z6)
	case 13:
		two(0xde00 | int64(x%8)<<5 | z5)
		s.alloc = 8*z5 + 8
		one(72+x%8, 0)
	case 14:
		n := r.Int64N(1 << 24)
		s.code, s.alloc = []byte{0xe0, byte(n >> 16), byte(n >> 8), byte(n)}, 16*n
	case 15:
		s.code = []byte{0xe3}
	case 16:
		s.code, s.pac = []byte{0xfc}, true
	case 17: // save_any_reg of d or q registers, a pair or one, with or without pre-index
		reg, pair, pre, q := r.IntN(30), r.IntN(2), r.IntN(2), r.IntN(2)
		s.code = []byte{0xe7, byte(pair<<6 | pre<<5 | reg), byte((1+q)<<6) | byte(z6)}
		at, size := 8*z6, int64(8+8*q)
		if pair|q == 1 {
			at = 16 * z6
		}
		if pre == 1 {
			s.alloc, at = 16*z6+16, 0
		}
		one(64+reg, at)
		if pair == 1 {
			one(65+reg, at+size)
		}
	}
	return s
}

// row returns what the row after some steps must be: the CFA and the registers, in the shorthand of
// row.Format.
func rowOf(steps []step) string {
	a := arch.ARM64
	sp := int64(0) // below the CFA
	saved := map[int]int64{}
	signed := false
	for _, s := range steps {
		sp -= s.alloc
		signed = signed || s.pac
		for reg, at := range s.saves {
			if _, dup := saved[reg]; !dup { // undone last: that of the first step counts
				saved[reg] = sp + at
			}
		}
	}
	text := fmt.Sprintf("cfa=sp%+d", -sp)
	for reg := range arch.Reg(arch.MaxRegs) {
		if at, ok := saved[int(reg)]; ok && reg != 30 {
			text += fmt.Sprintf(" %s=c%+d", a.RegName(reg), at)
		}
	}
	if at, ok := saved[30]; ok {
		text += fmt.Sprintf(" ra=c%+d", at)
	}
	return text
}

// TestARM64RoundTrip encodes random prologues and the mirrored epilogue in all forms of records, and
// asks for the row at every instruction.
func TestARM64RoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		steps := make([]step, r.IntN(12))
		codes := []byte{}
		for i := range steps {
			steps[i] = randomStep(r)
			codes = append(append([]byte{}, steps[i].code...), codes...)
		}
		codes = append(codes, 0xe4)
		for len(codes)%4 != 0 {
			codes = append(codes, 0xe3)
		}
		n := len(steps)
		length := 2*n + 1 + r.IntN(20)
		head := uint32(length)
		scope := words(uint32(length-n-1) & (1<<18 - 1))
		var info []byte
		switch form := r.IntN(3); {
		case form == 0: // E
			info = append(words(head|1<<21|uint32(len(codes)/4)<<27), codes...)
		case form == 1 && len(codes) < 4*31: // a scope
			info = append(append(words(head|1<<22|uint32(len(codes)/4)<<27), scope...), codes...)
		default: // extended counts
			info = append(append(words(head, 1|uint32(len(codes)/4)<<16), scope...), codes...)
		}
		tab := newTable(t, arch.ARM64, words(0x1000, 0x2000), map[uint32][]byte{0x2000: info})
		for i := range length {
			done := min(i, n)
			if left := length - 1 - i; left < n {
				done = left
			}
			want := rowOf(steps[:done])
			if got := at(tab, arch.ARM64, uint64(4*i)); got != want {
				t.Fatalf("instruction %d of %d, %d steps, codes % x:\n%s\nwant %s", i, length, n, codes, got, want)
			}
		}
	}
}

// TestPacked has every combination of RegF, RegI, H and CR with several frame sizes. The rows must be
// those of a record whose codes are written here by the specification's table.
func TestPacked(t *testing.T) {
	const lr = 30
	checked := 0
	for regF := range 8 {
		for regI := range 11 {
			for h := range 2 {
				for cr := range 4 {
					for _, frame := range []int64{0, 1, 8, 14, 15, 40, 255, 256, 300, 511} {
						var steps []step
						ints := int64(8 * regI)
						if cr == 1 {
							ints += 8
						}
						floats := int64(0)
						if regF > 0 {
							floats = int64(8*regF + 8)
						}
						saved := (ints + floats + int64(64*h) + 15) &^ 15
						local := 16*frame - saved
						var regs []int
						for i := range regI {
							regs = append(regs, 19+i)
						}
						if cr == 1 {
							regs = append(regs, lr)
						}
						if local < 0 || cr > 1 && local < 16 {
							continue
						}
						if cr == 2 {
							steps = append(steps, step{pac: true})
						}
						first := true
						save := func(list []int, at int64) {
							for i := 0; i < len(list); {
								s := step{saves: map[int]int64{list[i]: at + int64(8*i)}}
								pair := i+1 < len(list) && (list[i+1] != lr || regI%2 == 1)
								if pair {
									s.saves[list[i+1]] = at + int64(8*i) + 8
								}
								if first && pair && list[i+1] == lr {
									steps = append(steps, step{alloc: saved})
								} else if first {
									s.alloc = saved
								}
								first = false
								steps = append(steps, s)
								if i++; pair {
									i++
								}
							}
						}
						save(regs, 0)
						var ds []int
						for i := range int(floats / 8) {
							ds = append(ds, 72+i)
						}
						save(ds, ints)
						homes := len(steps)
						if h == 1 {
							s := step{}
							if first {
								s.alloc = saved
							}
							steps = append(steps, s, step{}, step{}, step{})
						}
						epilogue := append([]step{}, steps[:homes]...)
						if h == 1 && first {
							epilogue = append(epilogue, steps[homes])
						}
						common := len(steps)
						if cr > 1 && local <= 512 {
							steps = append(steps, step{alloc: local, saves: map[int]int64{29: 0, lr: 8}})
						} else {
							if local > 4080 {
								steps = append(steps, step{alloc: 4080}, step{alloc: local - 4080})
							} else if local > 0 {
								steps = append(steps, step{alloc: local})
							}
							if cr > 1 {
								steps = append(steps, step{saves: map[int]int64{29: 0, lr: 8}})
							}
						}
						epilogue = append(epilogue, steps[common:]...)
						n := len(steps)
						if cr > 1 {
							n++ // mov x29, sp
						}
						length := n + 30
						word := 1 | uint32(length)<<2 | uint32(regF)<<13 | uint32(regI)<<16 | uint32(h)<<20 | uint32(cr)<<21 | uint32(frame)<<23
						tab := newTable(t, arch.ARM64, words(0x1000, word), nil)
						for i := range length {
							want := rowOf(steps[:min(i, len(steps))])
							if left := length - 1 - i; left <= len(epilogue) {
								want = rowOf(epilogue[:left])
							} else if i >= n && cr > 1 {
								want = strings.Replace(want, "cfa=sp", "cfa=x29", 1)
							}
							if got := at(tab, arch.ARM64, uint64(4*i)); got != want {
								t.Fatalf("RegF %d RegI %d H %d CR %d frame %d, instruction %d of %d:\n%s\nwant %s", regF, regI, h, cr, frame, i, length, got, want)
							}
						}
						checked++
					}
				}
			}
		}
	}
	t.Logf("%d combinations", checked)
}
