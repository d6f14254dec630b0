# Functions with compact exception tables of each form, for MIPS.
	.cfi_sections .eh_frame_entry
	.text
	.globl __start
__start:
	.cfi_startproc
	.cfi_fde_data 0x5d
	nop
	nop
	.cfi_endproc
	.globl inline
inline:
	.cfi_startproc
	.cfi_fde_data 0x01, 0x43
	nop
	jr $31
	nop
	.cfi_endproc
	.globl outside
outside:
	.cfi_startproc
	.cfi_fde_data 0x01, 0x02, 0x03, 0x49, 0x58, 0x81, 0x01
	nop
	jr $31
	nop
	.cfi_endproc
	.globl framed
framed:
	.cfi_startproc
	.cfi_fde_data 0x5e, 0x03, 0x48
	nop
	jr $31
	nop
	.cfi_endproc
	.globl generic
generic:
	.cfi_startproc
	.cfi_personality 0x1b, routine
	.cfi_fde_data 0x00, 0x70
	nop
	jr $31
	nop
	.cfi_endproc
	.globl routine
routine:
	.cfi_startproc
	.cfi_personality_id 2
	.cfi_lsda 0x1b, data
	.cfi_fde_data 0x07, 0x59, 0x81, 0x62
	nop
	jr $31
	nop
	.cfi_endproc
	.cfi_inline_lsda 2
data:
	.byte 2, 0, 0, 0
