# A function with a calling convention of its own: it returns a result in rbx, and its table does not say so.
	.globl	_start
	.text
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	mov	$1, %ebx
	call	gives
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.cfi_endproc
	.size	_start, .-_start

	.type	gives, @function
gives:
	.cfi_startproc
	mov	$2, %ebx
	nop
	mov	$3, %ebx
	nop
	ret
	.cfi_endproc
	.size	gives, .-gives
