package unwindtable

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// orcSource has two functions in two sections, as objtool describes them for Linux 6.4.
const orcSource = `
	.text
	.globl first
	.type first, @function
first:	push %rbp
.L1:	pop %rbp
.L2:	ret
.L3:	.size first, .-first
	.section .init.text, "ax"
	.globl second
	.type second, @function
second:	nop
.L4:	.size second, .-second
	.macro entry at, sp, bp, regs, flags
	.section .orc_unwind_ip, "a"
	.long \at - .
	.section .orc_unwind, "a"
	.short \sp, \bp
	.byte \regs, \flags
	.endm
	entry first, 8, 0, 5, 2
	entry second, 0, 0, 5, 11
	entry .L1, 16, -16, 0x15, 2
	entry .L2, 8, 0, 5, 2
	entry .L3, 0, 0, 0, 0
	entry .L4, 0, 0, 0, 0
	.section .orc_header, "a"
	.byte 0xfe,0x5d,0x32,0xbf,0x58,0x1b,0xd6,0x3b,0x2c,0xa9,0xa5,0xc6,0x5b,0xa5,0xa6,0x25,0xea,0xb3,0xfe,0x24
`

func TestORC(t *testing.T) {
	fixture.Need(t, "as", "ld")
	dir := t.TempDir()
	src, obj, linked := filepath.Join(dir, "a.s"), filepath.Join(dir, "a.ko"), filepath.Join(dir, "vmlinux")
	if err := os.WriteFile(src, []byte(orcSource), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range [][]string{{"as", "--64", "-o", obj, src}, {"ld", "-m", "elf_x86_64", "-Ttext=0xffffffff81000000", "--section-start=.init.text=0xffffffff81001000",
		"--section-start=.orc_unwind=0xffffffff81002000", "--section-start=.orc_unwind_ip=0xffffffff81003000", "--section-start=.orc_header=0xffffffff81004000", "-e", "first", "-o", linked, obj}} {
		if msg, err := exec.Command(cmd[0], cmd[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v %s", cmd, err, msg)
		}
	}
	for _, c := range []struct {
		name, path string
		opt        Options
		want       string
	}{
		{"module", obj, Options{}, `
first 0x0..0x3  orc  (entry 0x0)
  pc  cfa    rbp  ra
  0x0 rsp+8  s    c-8
  0x1 rsp+16 c-16 c-8
  0x2 rsp+8  s    c-8
second 0x0..0x1  orc  (entry 0x6)
  pc  cfa   rax  rdx  rcx   rbx  rsi   rdi   rbp  rsp   r8   r9   r10  r11  r12  r13  r14 r15 ra
  0x0 rsp+0 c+80 c+96 c+88 c+40 c+104 c+112 c+32 c+152 c+72 c+64 c+56 c+48 c+24 c+16 c+8 c+0 c+128
`},
		{"one function of the module", obj, Options{Func: "first"}, `
first 0x0..0x3  orc  (entry 0x0)
  pc  cfa    rbp  ra
  0x0 rsp+8  s    c-8
  0x1 rsp+16 c-16 c-8
  0x2 rsp+8  s    c-8
`},
		{"raw module", obj, Options{Raw: true}, `
.text+0:type:call sp:sp+8 bp:(und) signal:0
.init.text+0:type:regs sp:sp+0 bp:(und) signal:1
.text+1:type:call sp:sp+16 bp:prevsp-16 signal:0
.text+2:type:call sp:sp+8 bp:(und) signal:0
.text+3:type:(und) sp:(und) bp:(und) signal:0
.init.text+1:type:(und) sp:(und) bp:(und) signal:0
`},
		{"linked", linked, Options{Func: "first"}, `
first 0xffffffff81000000..0xffffffff81000003  orc  (entry 0x0)
  pc                 cfa    rbp  ra
  0xffffffff81000000 rsp+8  s    c-8
  0xffffffff81000001 rsp+16 c-16 c-8
  0xffffffff81000002 rsp+8  s    c-8
`},
		{"raw linked", linked, Options{Raw: true}, `
ffffffff81000000:type:call sp:sp+8 bp:(und) signal:0
ffffffff81000001:type:call sp:sp+16 bp:prevsp-16 signal:0
ffffffff81000002:type:call sp:sp+8 bp:(und) signal:0
ffffffff81000003:type:(und) sp:(und) bp:(und) signal:0
ffffffff81001000:type:regs sp:sp+0 bp:(und) signal:1
ffffffff81001001:type:(und) sp:(und) bp:(und) signal:0
`},
		{"JSON", linked, Options{JSON: true, Func: "first"}, `
{"function":"first","start":"0xffffffff81000000","end":"0xffffffff81000003","source":"orc","entry":"0x0","signal":false,"rows":[` +
			`{"pc":"0xffffffff81000000","cfa":"rsp+8","registers":{"rbp":"s"},"ra":"c-8"},` +
			`{"pc":"0xffffffff81000001","cfa":"rsp+16","registers":{"rbp":"c-16"},"ra":"c-8"},` +
			`{"pc":"0xffffffff81000002","cfa":"rsp+8","registers":{"rbp":"s"},"ra":"c-8"}]}
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.opt.Source = "orc"
			var got bytes.Buffer
			if err := Print(t.Context(), &got, c.path, c.opt); err != nil {
				t.Fatal(err)
			}
			if squeeze(got.String()) != squeeze(c.want[1:]) {
				t.Errorf("got\n%s\nexpected\n%s", got.String(), c.want[1:])
			}
		})
	}
}

// squeeze removes what aligns columns.
func squeeze(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}
