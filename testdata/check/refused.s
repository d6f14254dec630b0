# Functions whose tables lead to nothing, so that the unwinder does not believe them: to memory that is not there, to
# a zero, to the function's own stack pointer. Their code leads to the caller.
	.globl	_start
	.text
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	call	unmapped
	call	zero
	call	still
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.cfi_endproc
	.size	_start, .-_start

	.type	unmapped, @function
unmapped:
	.cfi_startproc
	mov	$0x10, %eax
	.cfi_def_cfa rax, 8
	nop
	ret
	.cfi_endproc
	.size	unmapped, .-unmapped

	.type	zero, @function
zero:
	.cfi_startproc
	push	$0
	pop	%rax
	push	$0
	nop
	pop	%rax
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	zero, .-zero

	.type	still, @function
still:
	.cfi_startproc
	nop
	.cfi_def_cfa_offset 0
	.cfi_offset rip, 0
	nop
	ret
	.cfi_endproc
	.size	still, .-still
