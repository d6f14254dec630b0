# Corner cases of call frame information, for TestAssembled: each function is one.
	.cfi_sections .eh_frame, .debug_frame
	.text
	.globl f1
f1:	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	.cfi_remember_state
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	.cfi_remember_state
	nop
	.cfi_escape 0x0f, 3, 0x76, 0x90, 0x01		# def_cfa_expression: breg6 +144
	nop
	.cfi_restore_state
	pop %rbp
	.cfi_restore_state
	.cfi_restore %rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
f2:	.cfi_startproc
	nop
	.cfi_escape 0x14, 7, 2		# val_offset rsp, 2*-8
	nop
	.cfi_escape 0x15, 7, 0x7e	# val_offset_sf rsp, -2*-8
	nop
	.cfi_escape 0x11, 3, 0x7e	# offset_extended_sf rbx
	nop
	.cfi_escape 0x2e, 16		# GNU_args_size
	nop
	.cfi_register %rip, %rdx
	nop
	.cfi_undefined %rip
	nop
	.cfi_same_value %rbx
	nop
	.cfi_escape 0x10, 6, 2, 0x77, 8	# expression rbp
	nop
	.cfi_escape 0x16, 6, 2, 0x77, 8	# val_expression rbp
	.fill 300, 1, 0x90		# advance_loc2
	.cfi_def_cfa_offset 32
	.fill 70000, 1, 0x90		# advance_loc4
	.cfi_def_cfa_offset 8
	nop
	.cfi_escape 0x12, 6, 0x7c	# def_cfa_sf
	nop
	.cfi_escape 0x13, 0x7b		# def_cfa_offset_sf
	ret
	.cfi_endproc
f3:	.cfi_startproc
	.cfi_signal_frame
	nop
	.cfi_return_column %rip
	.cfi_def_cfa %rsp, 160
	.cfi_offset %rbx, -304
	ret
	.cfi_endproc
f4:	.cfi_startproc simple
	nop
	.cfi_def_cfa %r10, 0
	nop
	.cfi_rel_offset %r12, 8
	.cfi_adjust_cfa_offset 24
	ret
	.cfi_endproc
f5:	.cfi_startproc
	.cfi_personality 0x9b, pers
	.cfi_lsda 0x1b, lsda
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	pop %rbx
	.cfi_restore %rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.data
lsda:	.long 0
pers:	.quad 0
	.section .note.GNU-stack
