# A function whose table forgets its push: the CFA is one word too low at the two instructions behind
# it. One whose table says that rbx is kept, and which clobbers it. One without a table.
	.globl	_start
	.text
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	mov	$7, %ebx
	call	forgets
	call	forgets
	call	clobbers
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.cfi_endproc
	.size	_start, .-_start

	.type	forgets, @function
forgets:
	.cfi_startproc
	push	%rax
	nop
	pop	%rax
	ret
	.cfi_endproc
	.size	forgets, .-forgets

	.type	clobbers, @function
clobbers:
	.cfi_startproc
	mov	%rbx, %rcx
	xor	%ebx, %ebx
	nop
	mov	%rcx, %rbx
	ret
	.cfi_endproc
	.size	clobbers, .-clobbers
