# Functions with tables that say nothing of an end, as C libraries have them that begin a thread with a return
# address of zero (bionic's __start_thread), and another one.
	.macro function name
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
	sub $24, %rsp
	.cfi_adjust_cfa_offset 24
	call *%rdi
	add $24, %rsp
	.cfi_adjust_cfa_offset -24
	ret
	.cfi_endproc
	.size \name, . - \name
	.endm
	.text
	function __start_thread
	function thread_start
	function work
	.section .note.GNU-stack,"",@progbits
