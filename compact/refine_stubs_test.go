package compact_test

import (
	"fmt"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/compact"
	"dbg/row"
	"dbg/row/compiled"
)

// stubSections are sections of code as linkers write them, and their rows: where each instruction begins and ends, one line for those that
// follow each other with the same row.
var stubSections = []struct {
	name string
	arch *arch.Arch
	kind compact.StubKind
	code string
	want string
}{
	{"__stubs", arch.AMD64, compact.Stubs, "jmp *0x1000(%rip); jmp *0x1002(%rip); jmp *0x1004(%rip)", `
		0-12 cfa=rsp+8 ra=c-8
		`},
	{"__objc_stubs", arch.AMD64, compact.Stubs, `mov 0x1000(%rip),%rsi; jmp *0x2000(%rip); .byte 0xcc,0xcc,0xcc
		mov 0x1000(%rip),%rsi; jmp *0x2000(%rip); .byte 0xcc,0xcc,0xcc`, `
		0-d cfa=rsp+8 ra=c-8
		10-1d cfa=rsp+8 ra=c-8
		`},
	{"__stub_helper", arch.AMD64, compact.StubHelper, `head: lea 0x1000(%rip),%r11; push %r11; jmp *0x2000(%rip); nop
		pushq $0x11111111; .byte 0xe9; .long head-.-4
		pushq $0x22222222; .byte 0xe9; .long head-.-4`, `
		0-9 cfa=rsp+16 ra=c-8
		9-f cfa=rsp+24 ra=c-8
		10-15 cfa=rsp+8 ra=c-8
		15-1a cfa=rsp+16 ra=c-8
		1a-1f cfa=rsp+8 ra=c-8
		1f-24 cfa=rsp+16 ra=c-8
		`},
	{"__stub_helper without entries", arch.AMD64, compact.StubHelper, "lea 0x1000(%rip),%r11; push %r11; jmp *0x2000(%rip); nop", ""},
	{"__stub_helper, the second entry is cut", arch.AMD64, compact.StubHelper, `head: lea 0x1000(%rip),%r11; push %r11; jmp *0x2000(%rip); nop
		pushq $0x11111111; .byte 0xe9; .long head-.-4
		pushq $0x22222222; .byte 0xe9, 0`, `
		0-9 cfa=rsp+16 ra=c-8
		9-f cfa=rsp+24 ra=c-8
		10-15 cfa=rsp+8 ra=c-8
		15-1a cfa=rsp+16 ra=c-8
		`},
	{"an entry that jumps out of the section", arch.AMD64, compact.StubHelper, "pushq $0x11111111; .byte 0xe9; .long 0x10000", `
		0-5 cfa=rsp+8 ra=c-8
		5-a cfa=rsp+16 ra=c-8
		`},
	{"__stubs that are something else", arch.AMD64, compact.Stubs, "push %rbx; sub $16,%rsp; ret; jmp *0x1000(%rip)", `
		0-1 cfa=rsp+8 ra=c-8
		1-5 cfa=rsp+16 rbx=c-16 ra=c-8
		5-6 cfa=rsp+32 rbx=c-16 ra=c-8
		6-c cfa=rsp+8 ra=c-8
		`},

	{"__stubs", arch.ARM64, compact.Stubs, "adrp x16,0x10000; ldr x16,[x16,#8]; br x16; adrp x16,0x10000; ldr x16,[x16,#16]; br x16; nop; ldr x16,.+8; br x16", `
		0-18 cfa=sp+0
		1c-24 cfa=sp+0
		`},
	{"__auth_stubs", arch.ARM64, compact.Stubs, "adrp x17,0x10000; add x17,x17,#8; ldr x16,[x17]; braa x16,x17; adrp x17,0x10000; add x17,x17,#16; ldr x16,[x17]; braa x16,x17", `
		0-20 cfa=sp+0
		`},
	{"__objc_stubs", arch.ARM64, compact.Stubs, `adrp x1,0x10000; ldr x1,[x1]; adrp x16,0x10000; ldr x16,[x16,#8]; br x16; brk #1; brk #1; brk #1
		adrp x1,0x10000; ldr x1,[x1]; adrp x16,0x10000; ldr x16,[x16,#8]; br x16; brk #1; brk #1; brk #1`, `
		0-14 cfa=sp+0
		20-34 cfa=sp+0
		`},
	{"__stub_helper", arch.ARM64, compact.StubHelper, `head: adrp x17,0x10000; add x17,x17,#0x20; stp x16,x17,[sp,#-16]!; adrp x16,0x10000; ldr x16,[x16]; br x16
		ldr w16,.+8; b head; .long 0
		ldr w16,.+8; b head; .long 0x14000003`, `
		0-c cfa=sp+0
		c-18 cfa=sp+16
		18-20 cfa=sp+0
		24-2c cfa=sp+0
		`},
	{"__stub_helper, an entry and two bytes", arch.ARM64, compact.StubHelper, `head: stp x16,x17,[sp,#-16]!; br x16
		ldr w16,.+8; b head; .long 7; .byte 0x50, 0`, `
		0-4 cfa=sp+0
		4-8 cfa=sp+16
		8-10 cfa=sp+0
		`},
	{"of no architecture that is known", arch.RISCV64, compact.Stubs, "nop", ""},
}

func TestStubRows(t *testing.T) {
	for _, c := range stubSections {
		t.Run(c.arch.Name+" "+c.name, func(t *testing.T) {
			triple := "x86_64-linux-gnu"
			if c.arch == arch.ARM64 {
				triple = "aarch64-linux-gnu"
				c.code = ".arch_extension pauth\n" + c.code
			}
			text := assemble(t, triple, c.code+"\n")
			if got, want := stubRows(t, c.arch, c.kind, text), strings.TrimPrefix(strings.ReplaceAll(c.want, "\t", ""), "\n"); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
			// A section that is cut: what is there has its rows, and nothing comes behind its end.
			for n := range text {
				stubRows(t, c.arch, c.kind, text[:n:n])
				stubRows(t, c.arch, c.kind, text[n:])
			}
			// It ends when it is told to.
			calls := 0
			ended := compact.StubRows(c.arch, c.kind, 0x1000, text, func(lo, hi uint64, r *row.Row, hash uint64) bool { calls++; return false })
			if ended == (c.want != "") || calls != min(1, len(c.want)) {
				t.Errorf("%v after %d calls", ended, calls)
			}
		})
	}
}

// stubRows is the rows of such a section at address 0x1000, as text.
func stubRows(t *testing.T, a *arch.Arch, kind compact.StubKind, text []byte) string {
	t.Helper()
	const at = 0x1000
	var out strings.Builder
	var from, end uint64
	last := ""
	flush := func() {
		if last != "" {
			fmt.Fprintf(&out, "%x-%x%s\n", from-at, end-at, last)
		}
	}
	if !compact.StubRows(a, kind, at, text, func(lo, hi uint64, r *row.Row, hash uint64) bool {
		if lo < max(end, at) || lo >= hi || hi > at+uint64(len(text)) || r.Lo != lo || r.Hi != hi || hash != compiled.HashRow(r) {
			t.Fatalf("%d bytes: 0x%x to 0x%x after 0x%x: %s, hash %#x", len(text), lo, hi, end, r.Format(a), hash)
		}
		s := r.Format(a)
		if s = s[strings.IndexByte(s, ' '):]; s != last || lo != end {
			flush()
			from, last = lo, s
		}
		end = hi
		return true
	}) {
		t.Fatal("it ended before its end")
	}
	flush()
	return out.String()
}
