// AArch64: code alignment 4, data alignment -8, RA x30.
	.text
	.globl signed
	.type signed, %function
signed:	.cfi_startproc
	hint #25			// paciasp
	.cfi_negate_ra_state
	stp x29, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	.cfi_remember_state
	ldp x29, x30, [sp], 16
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	hint #29			// autiasp
	.cfi_negate_ra_state
	ret
	.cfi_restore_state
	nop
	ret
	.cfi_endproc
	.size signed, .-signed
	.globl keyb
	.type keyb, %function
keyb:	.cfi_startproc
	.cfi_b_key_frame
	hint #27			// pacibsp
	.cfi_negate_ra_state
	ret
	.cfi_endproc
	.size keyb, .-keyb
	.globl far
	.type far, %function
far:	.cfi_startproc
	.fill 100, 4, 0xd503201f	// advance_loc1
	.cfi_def_cfa_offset 16
	.fill 1000, 4, 0xd503201f	// advance_loc2
	.cfi_def_cfa_offset 32
	ret
	.cfi_endproc
	.size far, .-far
