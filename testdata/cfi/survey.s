# The function of the survey's section "DWARF Call Frame Information", and a second section .eh_frame whose type is
# SHT_X86_64_UNWIND.
	.text
	.globl f
f:
	.cfi_startproc
	pushq %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq %r15
	pushq %r14
	pushq %r13
	pushq %r12
	pushq %rbx
	.cfi_offset %rbx, -56
	.cfi_offset %r12, -48
	.cfi_offset %r13, -40
	.cfi_offset %r14, -32
	.cfi_offset %r15, -24
	popq %rbx
	popq %r12
	popq %r13
	popq %r14
	popq %r15
	popq %rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.section .note.GNU-stack,"",@progbits
