# A function whose entry is in a section .eh_frame of the type SHT_X86_64_UNWIND, as in glibc's i386 port and libffi.
	.text
	.globl g
	.hidden g
g:	nop
	ret
.Lend:
	.section .eh_frame,"a",@unwind
.Lcie:	.long .Lcieend-.Lid
.Lid:	.long 0
	.byte 1
	.asciz "zR"
	.uleb128 1
	.sleb128 -8
	.byte 16
	.uleb128 1
	.byte 0x1b                    # DW_EH_PE_pcrel | DW_EH_PE_sdata4
	.byte 0x0c, 7, 8, 0x90, 1     # def_cfa(rsp, 8), offset(rip, 1)
	.balign 8, 0
.Lcieend:
	.long .Lfdeend-.Lptr
.Lptr:	.long .Lptr-.Lcie
	.long g-.
	.long .Lend-g
	.uleb128 0
	.byte 0x41, 0x0e, 16          # advance_loc(1), def_cfa_offset(16)
	.balign 8, 0
.Lfdeend:
	.section .note.GNU-stack,"",@progbits
