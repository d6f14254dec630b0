package compact_test

import (
	"strings"
	"testing"

	"dbg/arch"
	"dbg/compact"
)

const (
	x86Frame     = 0x01000000 // RBP, no register saved
	x86FrameRbx  = 0x01010001 // RBX at CFA-24
	x86Leaf      = 0x02010000 // CFA = RSP+8
	x86Size24    = 0x02030000
	x86Size16Rbx = 0x02020400 // RBX at CFA-16
	armFrame     = 0x04000000
	armFrame1920 = 0x04000001
	armSize32    = 0x02002000
)

// snippets are functions and their rows: where each begins and ends, from the function's start.
var snippets = []struct {
	name string
	arch *arch.Arch
	op   uint32
	code string
	how  compact.How
	want string
}{
	{"a frame", arch.AMD64, x86Frame, "push %rbp; mov %rsp,%rbp; call 1f; pop %rbp; ret; 1:", compact.Confirmed, `
		0-1 cfa=rsp+8 ra=c-8
		1-4 cfa=rsp+16 rbp=c-16 ra=c-8
		4-a cfa=rbp+16 rbp=c-16 ra=c-8
		a-b cfa=rsp+8 ra=c-8
		`},
	{"a frame, two epilogues, padding", arch.AMD64, x86FrameRbx, `push %rbp; mov %rsp,%rbp; push %rbx; push %rax; test %edi,%edi; je 1f
		add $8,%rsp; pop %rbx; pop %rbp; ret; nop; nop; nop
		1: call 2f; add $8,%rsp; pop %rbx; pop %rbp; ret; 2: .byte 0xcc,0xcc,0xcc`, compact.Confirmed, `
		0-1 cfa=rsp+8 ra=c-8
		1-4 cfa=rsp+16 rbp=c-16 ra=c-8
		4-5 cfa=rbp+16 rbp=c-16 ra=c-8
		5-f cfa=rbp+16 rbx=c-24 rbp=c-16 ra=c-8
		f-10 cfa=rbp+16 rbp=c-16 ra=c-8
		10-11 cfa=rsp+8 ra=c-8
		14-1e cfa=rbp+16 rbx=c-24 rbp=c-16 ra=c-8
		1e-1f cfa=rbp+16 rbp=c-16 ra=c-8
		1f-20 cfa=rsp+8 ra=c-8
		`},
	{"without a frame pointer, a tail call", arch.AMD64, x86Size16Rbx, "push %rbx; mov %edi,%ebx; call 1f; pop %rbx; jmp *%rax; 1:", compact.Confirmed, `
		0-1 cfa=rsp+8 ra=c-8
		1-9 cfa=rsp+16 rbx=c-16 ra=c-8
		9-b cfa=rsp+8 ra=c-8
		`},
	{"shrink-wrapped", arch.AMD64, x86Size16Rbx, "test %edi,%edi; je 1f; push %rbx; mov %edi,%ebx; call 2f; pop %rbx; 1: ret; 2:", compact.Confirmed, `
		0-5 cfa=rsp+8 ra=c-8
		5-d cfa=rsp+16 rbx=c-16 ra=c-8
		d-e cfa=rsp+8 ra=c-8
		`},
	{"alloca", arch.AMD64, x86Frame, "push %rbp; mov %rsp,%rbp; sub %rdi,%rsp; mov %rsp,%rdi; call 1f; mov %rbp,%rsp; pop %rbp; ret; 1:", compact.Confirmed, `
		0-1 cfa=rsp+8 ra=c-8
		1-4 cfa=rsp+16 rbp=c-16 ra=c-8
		4-13 cfa=rbp+16 rbp=c-16 ra=c-8
		13-14 cfa=rsp+8 ra=c-8
		`},
	{"realigned", arch.AMD64, x86FrameRbx, "push %rbp; mov %rsp,%rbp; push %rbx; and $-32,%rsp; sub $64,%rsp; call 1f; lea -8(%rbp),%rsp; pop %rbx; pop %rbp; ret; 1:", compact.Confirmed, `
		0-1 cfa=rsp+8 ra=c-8
		1-4 cfa=rsp+16 rbp=c-16 ra=c-8
		4-5 cfa=rbp+16 rbp=c-16 ra=c-8
		5-17 cfa=rbp+16 rbx=c-24 rbp=c-16 ra=c-8
		17-18 cfa=rbp+16 rbp=c-16 ra=c-8
		18-19 cfa=rsp+8 ra=c-8
		`},
	{"pages of a large frame are touched", arch.AMD64, 0, "mov $0x10000,%eax; call 1f; sub %rax,%rsp; call 1f; add $0x10000,%rsp; ret; 1:", compact.CodeOnly, `
		0-d cfa=rsp+8 ra=c-8
		d-19 cfa=rsp+65544 ra=c-8
		19-1a cfa=rsp+8 ra=c-8
		`},
	{"large", arch.AMD64, 0x03032000, "sub $0x10008,%rsp; call 1f; add $0x10008,%rsp; ret; 1:", compact.Confirmed, `
		0-7 cfa=rsp+8 ra=c-8
		7-13 cfa=rsp+65552 ra=c-8
		13-14 cfa=rsp+8 ra=c-8
		`},
	{"a landing pad, and a call that does not return at the end", arch.AMD64, x86Size16Rbx, `push %rbx; call 1f; pop %rbx; ret
		mov %rax,%rbx; call 1f; mov %rbx,%rdi; call 1f; ud2; 1:`, compact.Confirmed, `
		0-1 cfa=rsp+8 ra=c-8
		1-7 cfa=rsp+16 rbx=c-16 ra=c-8
		7-8 cfa=rsp+8 ra=c-8
		8-1a cfa=rsp+16 rbx=c-16 ra=c-8
		`},
	{"a jump table", arch.AMD64, x86Size24, "sub $16,%rsp; jmp *%rax; mov $1,%eax; add $16,%rsp; ret; nop; nop; mov $2,%eax; add $16,%rsp; ret", compact.Confirmed, `
		0-4 cfa=rsp+8 ra=c-8
		4-f cfa=rsp+24 ra=c-8
		f-10 cfa=rsp+8 ra=c-8
		12-1b cfa=rsp+24 ra=c-8
		1b-1c cfa=rsp+8 ra=c-8
		`},
	{"a leaf", arch.AMD64, x86Leaf, "lea (%rdi,%rsi),%eax; ret; nopw 0(%rax,%rax)", compact.Confirmed, `
		0-4 cfa=rsp+8 ra=c-8
		`},
	{"nothing said, and a leaf", arch.AMD64, 0, "test %edi,%edi; jne 1f; ret; 1: push %rax; mov %edi,%eax; pop %rcx; ret", compact.CodeOnly, `
		0-6 cfa=rsp+8 ra=c-8
		6-9 cfa=rsp+16 ra=c-8
		9-a cfa=rsp+8 ra=c-8
		`},
	{"nothing said, and it can't be followed", arch.AMD64, 0, "mov %rdi,%rsp; pop %rax; jmp *%rax", compact.NotRefined, ""},
	{"not what it says", arch.AMD64, x86FrameRbx, "mov %rdi,%rsp; pop %rbx; jmp *%rax", compact.BodyOnly, `
		0-6 cfa=rbp+16 rbx=c-24 rbp=c-16 ra=c-8
		`},
	{"an inline probe loop", arch.AMD64, x86Frame, `push %rbp; mov %rsp,%rbp; lea -0x8000(%rsp),%r11; 1: sub $0x1000,%rsp; movq $0,(%rsp); cmp %r11,%rsp; jne 1b
		call 2f; add $0x8000,%rsp; pop %rbp; ret; 2:`, compact.Confirmed, `
		0-1 cfa=rsp+8 ra=c-8
		1-4 cfa=rsp+16 rbp=c-16 ra=c-8
		4-2d cfa=rbp+16 rbp=c-16 ra=c-8
		2d-2e cfa=rsp+8 ra=c-8
		`},
	{"a frame", arch.ARM64, armFrame, "stp x29,x30,[sp,#-16]!; mov x29,sp; bl 1f; ldp x29,x30,[sp],#16; ret; 1:", compact.Confirmed, `
		0-4 cfa=sp+0
		4-8 cfa=sp+16 x29=c-16 ra=c-8
		8-10 cfa=x29+16 x29=c-16 ra=c-8
		10-14 cfa=sp+0
		`},
	{"a frame above its locals, signed", arch.ARM64, armFrame1920, `pacibsp; sub sp,sp,#64; stp x20,x19,[sp,#32]; stp x29,x30,[sp,#48]; add x29,sp,#48; bl 1f
		ldp x29,x30,[sp,#48]; ldp x20,x19,[sp,#32]; add sp,sp,#64; retab; 1:`, compact.Confirmed, `
		0-4 cfa=sp+0
		4-8 cfa=sp+0
		8-c cfa=sp+64
		c-10 cfa=sp+64 x19=c-24 x20=c-32
		10-14 cfa=sp+64 x19=c-24 x20=c-32 x29=c-16 ra=c-8
		14-1c cfa=x29+16 x19=c-24 x20=c-32 x29=c-16 ra=c-8
		1c-20 cfa=sp+64 x19=c-24 x20=c-32
		20-24 cfa=sp+64
		24-28 cfa=sp+0
		`},
	{"without a frame", arch.ARM64, armSize32, "sub sp,sp,#32; str x0,[sp,#8]; ldr x0,[sp,#8]; add sp,sp,#32; ret; nop; nop", compact.Confirmed, `
		0-4 cfa=sp+0
		4-10 cfa=sp+32
		10-14 cfa=sp+0
		`},
	{"large, touched", arch.ARM64, armFrame, `stp x29,x30,[sp,#-16]!; mov x29,sp; mov w9,#0x8000; movk w9,#1,lsl #16; bl 1f; sub sp,sp,x9; bl 1f
		mov sp,x29; ldp x29,x30,[sp],#16; ret; 1:`, compact.Confirmed, `
		0-4 cfa=sp+0
		4-8 cfa=sp+16 x29=c-16 ra=c-8
		8-24 cfa=x29+16 x29=c-16 ra=c-8
		24-28 cfa=sp+0
		`},
	{"realigned", arch.ARM64, armFrame, "stp x29,x30,[sp,#-16]!; mov x29,sp; sub x9,sp,#96; and sp,x9,#0xffffffffffffffe0; bl 1f; mov sp,x29; ldp x29,x30,[sp],#16; b 1f; 1:", compact.Confirmed, `
		0-4 cfa=sp+0
		4-8 cfa=sp+16 x29=c-16 ra=c-8
		8-1c cfa=x29+16 x29=c-16 ra=c-8
		1c-20 cfa=sp+0
		`},
	{"a landing pad", arch.ARM64, armFrame1920, `stp x20,x19,[sp,#-32]!; stp x29,x30,[sp,#16]; add x29,sp,#16; bl 1f; ldp x29,x30,[sp,#16]; ldp x20,x19,[sp],#32; ret
		mov x19,x0; bl 1f; mov x0,x19; bl 1f; brk #1; 1:`, compact.Confirmed, `
		0-4 cfa=sp+0
		4-8 cfa=sp+32 x19=c-24 x20=c-32
		8-c cfa=sp+32 x19=c-24 x20=c-32 x29=c-16 ra=c-8
		c-14 cfa=x29+16 x19=c-24 x20=c-32 x29=c-16 ra=c-8
		14-18 cfa=sp+32 x19=c-24 x20=c-32
		18-1c cfa=sp+0
		1c-30 cfa=x29+16 x19=c-24 x20=c-32 x29=c-16 ra=c-8
		`},
}

func TestSnippets(t *testing.T) {
	for _, c := range snippets {
		t.Run(c.arch.Name+" "+c.name, func(t *testing.T) {
			triple := "x86_64-linux-gnu"
			if c.arch == arch.ARM64 {
				triple = "aarch64-linux-gnu"
				c.code = ".arch_extension pauth\n" + c.code
			}
			text := assemble(t, triple, c.code+"\n")
			got, x := refine(t, c.arch, c.op, text, 0x1000)
			if how := x.How(0x1000); how != c.how {
				t.Errorf("%v, want %v", how, c.how)
			}
			if want := strings.TrimPrefix(strings.ReplaceAll(c.want, "\t", ""), "\n"); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}
