# A function of the Motorola 68000 that saves registers. LLVM has no number for the return address there.
	.text
	.globl	f
	.type	f,@function
f:
	.cfi_startproc
	link.w	%a6, #-8
	.cfi_def_cfa_offset 8
	.cfi_offset 14, -8
	.cfi_def_cfa_register 14
	move.l	%d2, -(%sp)
	.cfi_offset 2, -20
	move.l	%a2, -(%sp)
	.cfi_offset 10, -24
	nop
	unlk	%a6
	.cfi_def_cfa 15, 4
	rts
	.cfi_endproc
	.size	f, .-f
