# Functions whose tables say nothing of what they do to registers. Some keep the register somewhere, where a debugger that reads the code
# does not see it; it has its value again at the end.
	.globl	_start
	.text
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	mov	$7, %ebx
	mov	$8, %r12d
	lea	area(%rip), %rdi
	call	vector
	call	memory
	call	chain
	call	later
	call	behind
	call	frame
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.cfi_endproc
	.size	_start, .-_start

# Kept in a vector register: lost for one instruction, known again after it.
	.type	vector, @function
vector:
	.cfi_startproc
	movq	%rbx, %xmm0
	mov	$5, %ebx
	nop
	movq	%xmm0, %rbx
	nop
	ret
	.cfi_endproc
	.size	vector, .-vector

# Kept in memory that is not the stack.
	.type	memory, @function
memory:
	.cfi_startproc
	mov	%rbx, (%rdi,%rax,1)
	mov	$5, %ebx
	mov	(%rdi,%rax,1), %rbx
	nop
	ret
	.cfi_endproc
	.size	memory, .-memory

# Kept in a register, and in another one.
	.type	chain, @function
chain:
	.cfi_startproc
	mov	%rbx, %rcx
	mov	%rsi, %rbx
	mov	%rcx, %rdx
	mov	$1, %ecx
	mov	%rdx, %rbx
	nop
	ret
	.cfi_endproc
	.size	chain, .-chain

# Changed in the later rounds of a loop, and never given back.
	.type	later, @function
later:
	.cfi_startproc
	mov	$2, %ecx
1:	nop
	dec	%ecx
	js	2f
	add	$3, %r12
	jmp	1b
2:	nop
	ret
	.cfi_endproc
	.size	later, .-later

# What follows a call that does not return belongs to another way.
	.type	behind, @function
behind:
	.cfi_startproc
	test	%eax, %eax
	jns	1f
	mov	$9, %ebx
	call	never
1:	nop
	ret
	.cfi_endproc
	.size	behind, .-behind
	.type	never, @function
never:
	.cfi_startproc
	ud2
	.cfi_endproc
	.size	never, .-never

# The row of the return is wrong: it still has the frame.
	.type	frame, @function
frame:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset rbx, -16
	sub	$64, %rsp
	.cfi_adjust_cfa_offset 64
	movq	$-1, 8(%rsp)
	add	$64, %rsp
	pop	%rbx
	nop
	ret
	.cfi_endproc
	.size	frame, .-frame

	.section .bss
area:	.skip 64
