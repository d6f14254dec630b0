package unwindcheck

import (
	"encoding/hex"
	"strings"
	"testing"
)

func TestDecode(t *testing.T) {
	const pc = 0x1000
	for _, c := range []struct {
		code, what string
		want       instruction
	}{
		{"e8 00000000", "call .+5", instruction{class: call, flow: direct, here: true, next: pc + 5, target: pc + 5}},
		{"e8 00000000 58", "call .+5", instruction{class: call, flow: direct, here: true, next: pc + 5, target: pc + 5}},
		{"e8 00000000 55", "call .+5", instruction{class: call, flow: direct, next: pc + 5, target: pc + 5}},
		{"e8 10000000", "call", instruction{class: call, flow: direct, next: pc + 5, target: pc + 0x15}},
		{"ff d0", "call *%rax", instruction{class: call, flow: uncertain, next: pc + 2}},
		{"41 ff d4", "call *%r12", instruction{class: call, flow: uncertain, next: pc + 3}},
		{"ff 15 00000000", "call *0(%rip)", instruction{class: call, flow: uncertain, next: pc + 6}},
		{"ff 54 24 08", "call *8(%rsp)", instruction{class: call, flow: uncertain, next: pc + 4}},
		{"41 ff 94 c4 00010000", "call *0x100(%r12,%rax,8)", instruction{class: call, flow: uncertain, next: pc + 8}},
		{"f2 ff 25 00000000", "bnd jmp *0(%rip)", instruction{class: jump, flow: uncertain}},
		{"3e ff e0", "notrack jmp *%rax", instruction{class: jump, flow: uncertain}},
		{"eb fe", "jmp .", instruction{flow: direct, next: pc + 2, target: pc}},
		{"75 10", "jne", instruction{flow: branch, cond: 5, next: pc + 2, target: pc + 0x12}},
		{"0f 84 00010000", "je", instruction{flow: branch, cond: 4, next: pc + 6, target: pc + 0x106}},
		{"f3 c3", "rep ret", instruction{class: ret, flow: back}},
		{"0f 05", "syscall", instruction{class: syscall, flow: uncertain}},
		{"55", "push %rbp", instruction{class: push}},
		{"41 5c", "pop %r12", instruction{class: pop}},
		{"5c", "pop %rsp", instruction{class: loadSP}},
		{"48 89 ec", "mov %rbp,%rsp", instruction{class: setSP}},
		{"4c 89 c4", "mov %r8,%rsp", instruction{class: setSP}},
		{"49 89 e4", "mov %rsp,%r12", instruction{}},
		{"48 8b a2 a0000000", "mov 0xa0(%rdx),%rsp", instruction{class: loadSP}},
		{"4c 8b 65 f0", "mov -16(%rbp),%r12", instruction{}},
		{"48 8d 65 d8", "lea -0x28(%rbp),%rsp", instruction{class: setSP}},
		{"c9", "leave", instruction{class: setSP}},
		{"f3 a4", "rep movsb", instruction{flow: uncertain}},
		{"c5 f8 77", "vzeroupper", instruction{}},
		{"f3 0f 1e fa", "endbr64", instruction{}},
		{"e8 10", "cut short", instruction{class: call, flow: uncertain}},
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := decode(b, pc); got != c.want {
			t.Errorf("%s (%s): %+v, want %+v", c.what, c.code, got, c.want)
		}
	}
}

func TestTaken(t *testing.T) {
	const cf, zf, sf, of = 1, 1 << 6, 1 << 7, 1 << 11
	for _, c := range []struct {
		cond  byte
		flags uint64
		want  bool
	}{
		{0x0, of, true}, {0x1, of, false}, {0x2, cf, true}, {0x3, cf, false}, {0x4, zf, true}, {0x5, zf, false},
		{0x6, zf, true}, {0x7, cf, false}, {0x7, 0, true}, {0x8, sf, true}, {0x9, sf, false}, {0xa, 4, true}, {0xb, 4, false},
		{0xc, sf, true}, {0xc, sf | of, false}, {0xd, sf | of, true}, {0xe, zf, true}, {0xe, of, true}, {0xf, 0, true}, {0xf, of, false},
	} {
		if taken(c.cond, c.flags) != c.want {
			t.Errorf("condition %x with flags %#x: want %v", c.cond, c.flags, c.want)
		}
	}
}
