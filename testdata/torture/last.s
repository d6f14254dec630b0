# A library whose text ends with a call that does not return: the return address is behind the module's
# code. And one that lies in the file where its address does not say.
	.text
	.globl last
	.type last,@function
last:
	.cfi_startproc
	sub $24,%rsp
	.cfi_def_cfa_offset 32
	call *%rdi
	.cfi_endproc
	.size last,.-last
