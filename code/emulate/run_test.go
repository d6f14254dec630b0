package emulate

import (
	"testing"
)

const (
	testPC   = 0x401000
	testBase = 0x10000
)

// common has the instructions that functions begin with most often.
var common = []struct {
	name string
	code []byte
}{
	{"endbr64", []byte{0xf3, 0x0f, 0x1e, 0xfa}},
	{"push rbp", []byte{0x55}},
	{"push r15", []byte{0x41, 0x57}},
	{"mov rbp, rsp", []byte{0x48, 0x89, 0xe5}},
	{"sub rsp, 0x18", []byte{0x48, 0x83, 0xec, 0x18}},
	{"lea rax, [rip+0x10]", []byte{0x48, 0x8d, 0x05, 0x10, 0, 0, 0}},
	{"nop word [rax+rax]", []byte{0x66, 0x0f, 0x1f, 0x44, 0, 0}},
	{"test rdi, rdi", []byte{0x48, 0x85, 0xff}},
	{"cmp dword [rsp+8], 5", []byte{0x83, 0x7c, 0x24, 0x08, 0x05}},
	{"je +5", []byte{0x74, 5}},
	{"jmp rax", []byte{0xff, 0xe0}},
	{"call +0x100", []byte{0xe8, 0, 1, 0, 0}},
	{"add [rsp], rax", []byte{0x48, 0x01, 0x04, 0x24}},
	{"xor eax, eax", []byte{0x31, 0xc0}},
	{"and rsp, -16", []byte{0x48, 0x83, 0xe4, 0xf0}},
	{"mov rax, fs:[0x28]", []byte{0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}},
}

func testState() (*Regs, *arena) {
	r := &Regs{RIP: testPC, Flags: 0x202, FSBase: testBase + 0x800}
	r.GPR[rsp] = testBase + 0x400
	r.GPR[rax] = 0x1234
	return r, &arena{base: testBase, data: make([]byte, 4096)}
}

func TestRunAllocatesNothing(t *testing.T) {
	for _, c := range common {
		o, ok := Decode(c.code, testPC)
		if !ok || o.Len() != len(c.code) {
			t.Errorf("%s: not claimed, or length %d instead of %d", c.name, o.Len(), len(c.code))
			continue
		}
		r, m := testState()
		n := testing.AllocsPerRun(200, func() {
			run := *r
			if err := o.Run(&run, m); err != nil {
				t.Error(c.name, err)
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	for _, c := range common {
		b.Run(c.name, func(b *testing.B) {
			o, _ := Decode(c.code, testPC)
			r, m := testState()
			b.ReportAllocs()
			for b.Loop() {
				run := *r
				_ = o.Run(&run, m)
			}
		})
	}
}
