package emulate

import "testing"

// The registers that the tables name.
const (
	rbx place = 3
	r8  place = 8
	r12 place = 12
	r13 place = 13
)

type registers map[place]uint64

const (
	stack = testBase + 0x400 // RSP at the start
)

// quirks are the rules that are easy to get wrong. RSP is stack unless the row sets it, and at
// stack there is the number in memory.
var quirks = []struct {
	name       string
	code       []byte
	before     registers
	flags      uint64
	memory     uint64
	after      registers
	wantFlags  uint64
	wantMemory uint64 // at stack
	rip        uint64 // 0: after the instruction
}{
	{name: "mov eax, ecx clears the upper half", code: []byte{0x89, 0xc8},
		before: registers{rax: ^uint64(0), rcx: 5}, after: registers{rax: 5}},
	{name: "mov ax, cx keeps the rest", code: []byte{0x66, 0x89, 0xc8},
		before: registers{rax: ^uint64(0), rcx: 5}, after: registers{rax: 0xffffffffffff0005}},
	{name: "mov ah, 0x7f without REX", code: []byte{0xb4, 0x7f},
		before: registers{rax: 0x1111}, after: registers{rax: 0x7f11, rsp: stack}},
	{name: "mov spl, 0x7f with REX", code: []byte{0x40, 0xb4, 0x7f},
		before: registers{rax: 0x1111}, after: registers{rax: 0x1111, rsp: stack&^0xff | 0x7f}},
	{name: "mov bh, ch", code: []byte{0x88, 0xef},
		before: registers{rbx: 0x1234, rcx: 0xabcd}, after: registers{rbx: 0xab34}},
	{name: "cmove eax, ecx that does not move clears the upper half", code: []byte{0x0f, 0x44, 0xc1},
		before: registers{rax: 0xffffffff00000001, rcx: 5}, after: registers{rax: 1}},
	{name: "shl eax, 32 shifts by 0 and keeps the flags", code: []byte{0xc1, 0xe0, 0x20},
		before: registers{rax: 0xffffffff00000001}, flags: flagCF | flagZF, after: registers{rax: 1}, wantFlags: flagCF | flagZF},
	{name: "shl rax, cl masks the count with 63", code: []byte{0x48, 0xd3, 0xe0},
		before: registers{rax: 1, rcx: 0xff21}, after: registers{rax: 1 << 33}, wantFlags: flagPF | flagAF},
	{name: "rol al, 8 changes CF only", code: []byte{0xc0, 0xc0, 8},
		before: registers{rax: 0x81}, flags: flagZF | flagPF, after: registers{rax: 0x81}, wantFlags: flagZF | flagPF | flagCF},
	{name: "inc keeps CF", code: []byte{0x48, 0xff, 0xc0},
		before: registers{rax: ^uint64(0)}, flags: flagCF, after: registers{rax: 0}, wantFlags: flagCF | flagZF | flagPF | flagAF},
	{name: "not keeps the flags", code: []byte{0x48, 0xf7, 0xd0},
		before: registers{rax: ^uint64(0)}, flags: flagOF, after: registers{rax: 0}, wantFlags: flagOF},
	{name: "neg 0 clears CF", code: []byte{0x48, 0xf7, 0xd8},
		before: registers{rax: 0}, flags: flagCF, after: registers{rax: 0}, wantFlags: flagZF | flagPF},
	{name: "cmp al, 0x80 overflows", code: []byte{0x3c, 0x80},
		before: registers{rax: 0x7f}, after: registers{rax: 0x7f}, wantFlags: flagCF | flagOF | flagSF | flagPF},
	{name: "and eax, imm32 does not extend into the upper half", code: []byte{0x25, 0, 0, 0, 0x80},
		before: registers{rax: ^uint64(0)}, after: registers{rax: 0x80000000}, wantFlags: flagSF | flagPF},
	{name: "imul that does not fit", code: []byte{0x48, 0x69, 0xc1, 0, 0, 0, 0x80},
		before: registers{rcx: 1 << 40}, after: registers{rax: 0}, wantFlags: flagCF | flagOF},
	{name: "bt takes the number modulo the size", code: []byte{0x48, 0x0f, 0xa3, 0xc8},
		before: registers{rax: 2, rcx: 65}, after: registers{rax: 2}, wantFlags: flagCF},
	{name: "cqo", code: []byte{0x48, 0x99}, before: registers{rax: 1 << 63}, after: registers{rdx: ^uint64(0)}},
	{name: "cwde clears the upper half", code: []byte{0x98}, before: registers{rax: ^uint64(0)}, after: registers{rax: 0xffffffff}},
	{name: "xchg r8, rax is not nop", code: []byte{0x49, 0x90}, before: registers{rax: 1, r8: 2}, after: registers{rax: 2, r8: 1}},
	{name: "nop with REX.W", code: []byte{0x48, 0x90}, before: registers{rax: ^uint64(0)}, after: registers{rax: ^uint64(0)}},
	{name: "xchg eax, eax by 87 clears the upper half", code: []byte{0x87, 0xc0}, before: registers{rax: ^uint64(0)}, after: registers{rax: 0xffffffff}},
	{name: "xchg al, ah", code: []byte{0x86, 0xe0}, before: registers{rax: 0x1234}, after: registers{rax: 0x3412}},

	{name: "lea ignores the segment", code: []byte{0x64, 0x48, 0x8d, 0x41, 0x10}, before: registers{rcx: 1}, after: registers{rax: 0x11}},
	{name: "lea cuts the address to 32 bits with 67", code: []byte{0x67, 0x48, 0x8d, 0x41, 0xff}, before: registers{rcx: 0}, after: registers{rax: 0xffffffff}},
	{name: "r12 as base needs SIB", code: []byte{0x49, 0x8d, 0x04, 0x24}, before: registers{r12: 7}, after: registers{rax: 7}},
	{name: "r12 as index is not \"no index\"", code: []byte{0x4a, 0x8d, 0x04, 0x60}, before: registers{rax: 1, r12: 7}, after: registers{rax: 15}},
	{name: "r13 as base with mod = 0 is \"no base\"", code: []byte{0x49, 0x8d, 0x04, 0x25, 9, 0, 0, 0}, before: registers{r13: 7}, after: registers{rax: 9}},
	{name: "RIP counts from the end, after the immediate", code: []byte{0x48, 0xc7, 0x05, 0xf5, 0xf3, 0xc0, 0xff, 1, 0, 0, 0},
		memory: 5, wantMemory: 1},
	{name: "mov rax, fs:[0]", code: []byte{0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0}, memory: 5, after: registers{rax: 5}, wantMemory: 5},

	{name: "push rsp pushes the old value", code: []byte{0x54},
		before: registers{rsp: stack + 8}, after: registers{rsp: stack}, wantMemory: stack + 8},
	{name: "pop rsp yields the popped value", code: []byte{0x5c}, memory: 77, after: registers{rsp: 77}, wantMemory: 77},
	{name: "pop [rsp-8] uses the new RSP", code: []byte{0x8f, 0x44, 0x24, 0xf8}, memory: 77, after: registers{rsp: stack + 8}, wantMemory: 77},
	{name: "push [rsp+8] uses the old RSP", code: []byte{0xff, 0x74, 0x24, 0xf8},
		before: registers{rsp: stack + 8}, memory: 77, after: registers{rsp: stack}, wantMemory: 77},
	{name: "push imm8 is extended to 64 bits", code: []byte{0x6a, 0xff}, before: registers{rsp: stack + 8}, after: registers{rsp: stack}, wantMemory: ^uint64(0)},
	{name: "push ax moves RSP by 2", code: []byte{0x66, 0x50},
		before: registers{rax: 9, rsp: stack + 2}, after: registers{rsp: stack}, wantMemory: 9},
	{name: "leave", code: []byte{0xc9}, before: registers{rbp: stack}, memory: 77, after: registers{rbp: 77, rsp: stack + 8}, wantMemory: 77},

	{name: "call [rsp] reads before it pushes", code: []byte{0xff, 0x54, 0x24, 0xf8},
		before: registers{rsp: stack + 8}, memory: 0x1234, after: registers{rsp: stack}, wantMemory: testPC + 4, rip: 0x1234},
	{name: "ret 0x10", code: []byte{0xc2, 0x10, 0}, memory: 0x1234, after: registers{rsp: stack + 0x18}, wantMemory: 0x1234, rip: 0x1234},
	{name: "repz ret", code: []byte{0xf3, 0xc3}, memory: 0x1234, after: registers{rsp: stack + 8}, wantMemory: 0x1234, rip: 0x1234},
	{name: "bnd jmp rax", code: []byte{0xf2, 0xff, 0xe0}, before: registers{rax: 0x1234}, rip: 0x1234},
	{name: "call with 66 and REX.W, as before __tls_get_addr", code: []byte{0x66, 0x66, 0x48, 0xe8, 2, 0, 0, 0},
		before: registers{rsp: stack + 8}, after: registers{rsp: stack}, wantMemory: testPC + 8, rip: testPC + 10},
	{name: "jl with SF and OF is not taken", code: []byte{0x7c, 0x10}, flags: flagSF | flagOF, wantFlags: flagSF | flagOF},
	{name: "jle with ZF is taken", code: []byte{0x7e, 0xfe}, flags: flagZF, wantFlags: flagZF, rip: testPC},
	{name: "jecxz looks at ECX", code: []byte{0x67, 0xe3, 0x10}, before: registers{rcx: 1 << 32}, rip: testPC + 0x13},
	{name: "jrcxz looks at RCX", code: []byte{0xe3, 0x10}, before: registers{rcx: 1 << 32}},
}

func TestQuirks(t *testing.T) {
	for _, q := range quirks {
		t.Run(q.name, func(t *testing.T) {
			o, ok := Decode(q.code, testPC)
			if !ok || o.Len() != len(q.code) {
				t.Fatalf("% x: claimed %v, length %d", q.code, ok, o.Len())
			}
			m := &arena{testBase, make([]byte, 4096)}
			check(t, store(m, stack, 8, q.memory))
			r := &Regs{RIP: testPC, Flags: 0x202 | q.flags | flagRF, FSBase: stack}
			r.GPR[rsp] = stack
			for reg, value := range q.before {
				r.GPR[reg] = value
			}
			check(t, o.Run(r, m))
			for reg, want := range q.after {
				if r.GPR[reg] != want {
					t.Errorf("register %d: %#x, want %#x", reg, r.GPR[reg], want)
				}
			}
			if want := 0x202 | q.wantFlags; r.Flags != want {
				t.Errorf("flags %#x, want %#x", r.Flags, want)
			}
			if got, _ := load(m, stack, 8); got != q.wantMemory {
				t.Errorf("memory %#x, want %#x", got, q.wantMemory)
			}
			if q.rip == 0 {
				q.rip = testPC + uint64(len(q.code))
			}
			if r.RIP != q.rip {
				t.Errorf("RIP %#x, want %#x", r.RIP, q.rip)
			}
		})
	}
}

// unclaimed are instructions that Decode must leave to the processor.
var unclaimed = []struct {
	name string
	code []byte
}{
	{"nothing", nil},
	{"int3", []byte{0xcc}},
	{"int3 with prefixes", []byte{0x66, 0x48, 0xcc}},
	{"int 0x80", []byte{0xcd, 0x80}},
	{"int1", []byte{0xf1}},
	{"syscall", []byte{0x0f, 0x05}},
	{"sysenter", []byte{0x0f, 0x34}},
	{"hlt", []byte{0xf4}},
	{"iretq", []byte{0x48, 0xcf}},
	{"far return", []byte{0xcb}},
	{"far call", []byte{0xff, 0x18}},
	{"pushf", []byte{0x9c}},
	{"popf", []byte{0x9d}},
	{"lock add [rax], eax", []byte{0xf0, 0x01, 0x00}},
	{"xchg [rax], eax locks", []byte{0x87, 0x00}},
	{"rep movsb", []byte{0xf3, 0xa4}},
	{"mov ss, eax", []byte{0x8e, 0xd0}},
	{"mov eax, fs", []byte{0x8c, 0xe0}},
	{"pop fs", []byte{0x0f, 0xa1}},
	{"rdsspq rax", []byte{0xf3, 0x48, 0x0f, 0x1e, 0xc8}},
	{"popcnt is not nop", []byte{0xf3, 0x0f, 0xb8, 0xc0}},
	{"tzcnt is not bsf", []byte{0xf3, 0x0f, 0xbc, 0xc0}},
	{"bt [rax], ecx reaches beyond the operand", []byte{0x0f, 0xa3, 0x08}},
	{"jmp with 66 differs between vendors", []byte{0x66, 0xe9, 0, 0, 0, 0}},
	{"je with 66", []byte{0x66, 0x74, 0}},
	{"ret with 66", []byte{0x66, 0xc3}},
	{"movsxd with 66", []byte{0x66, 0x63, 0xc0}},
	{"bswap ax", []byte{0x66, 0x0f, 0xc8}},
	{"lea of a register", []byte{0x8d, 0xc0}},
	{"group 1A", []byte{0x8f, 0xc8}},
	{"xabort", []byte{0xc6, 0xf8, 0}},
	{"xbegin", []byte{0xc7, 0xf8, 0, 0, 0, 0}},
	{"movaps", []byte{0x0f, 0x28, 0xc1}},
	{"vzeroupper", []byte{0xc5, 0xf8, 0x77}},
	{"fld", []byte{0xd9, 0x00}},
	{"REX before a prefix", []byte{0x48, 0x66, 0x89, 0xc8}},
	{"two segments", []byte{0x64, 0x65, 0x8b, 0x00}},
	{"both repeats", []byte{0xf2, 0xf3, 0xc3}},
	{"cut off", []byte{0x48, 0x8b, 0x04, 0x25, 0, 0, 0}},
	{"longer than 15 bytes", []byte{0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x90}},
}

func TestUnclaimed(t *testing.T) {
	for _, c := range unclaimed {
		if o, ok := Decode(c.code, testPC); ok {
			t.Errorf("%s (% x) is claimed, with length %d", c.name, c.code, o.Len())
		}
	}
}

// TestErrorsChangeNothing runs instructions that the processor must execute.
func TestErrorsChangeNothing(t *testing.T) {
	rows := []struct {
		name   string
		code   []byte
		change func(*Regs)
	}{
		{"the trap flag", []byte{0x90}, func(r *Regs) { r.Flags |= flagTF }},
		{"the alignment-check flag", []byte{0x90}, func(r *Regs) { r.Flags |= flagAC }},
		{"another address", []byte{0x90}, func(r *Regs) { r.RIP++ }},
		{"jmp rax, not canonical", []byte{0xff, 0xe0}, func(r *Regs) { r.GPR[rax] = 1 << 47 }},
		{"call rax, not canonical", []byte{0xff, 0xd0}, func(r *Regs) { r.GPR[rax] = 1 << 63 }},
		{"ret, not canonical", []byte{0xc3}, func(r *Regs) { r.GPR[rsp] += 8 }},
		{"add [rax], rcx, unmapped", []byte{0x48, 0x01, 0x08}, func(r *Regs) { r.GPR[rax] = 1 }},
		{"add rcx, [rax], unmapped", []byte{0x48, 0x03, 0x08}, func(r *Regs) { r.GPR[rax] = 1 }},
		{"mov [rax], rcx, half unmapped", []byte{0x48, 0x89, 0x08}, func(r *Regs) { r.GPR[rax] = testBase + 4092 }},
		{"push, unmapped", []byte{0x50}, func(r *Regs) { r.GPR[rsp] = testBase }},
		{"call, unmapped", []byte{0xe8, 0, 0, 0, 0}, func(r *Regs) { r.GPR[rsp] = testBase }},
		{"pop [rax], unmapped", []byte{0x8f, 0x00}, func(r *Regs) { r.GPR[rax] = 1 }},
		{"leave, unmapped", []byte{0xc9}, func(r *Regs) { r.GPR[rbp] = 1 }},
		{"cmove eax, [rax] reads in any case", []byte{0x0f, 0x44, 0x00}, func(r *Regs) { r.GPR[rax] = 1 }},
		{"setne [rax], unmapped", []byte{0x0f, 0x95, 0x00}, func(r *Regs) { r.GPR[rax] = 1 }},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			o, ok := Decode(row.code, testPC)
			if !ok {
				t.Fatal("not claimed")
			}
			r, m := testState()
			check(t, store(m, stack+8, 8, 0xffff_8000_0000_0000))
			before := string(m.data)
			row.change(r)
			want := *r
			if err := o.Run(r, m); err == nil {
				t.Error("no error")
			}
			if *r != want || string(m.data) != before {
				t.Errorf("something has changed\n%s", differences(&want, r, &want))
			}
		})
	}
}
