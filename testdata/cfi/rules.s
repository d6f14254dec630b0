# Call frame rules that are easily got wrong, one a function: cfi/torture_test.go has the rows that
# each must give. x86-64: code alignment 1, data alignment -8, CIE: CFA=rsp+8, RA at c-8.
	.text
	.macro function name
	.globl \name
	.type \name, @function
\name:	.cfi_startproc
	.endm
	.macro end name
	ret
	.cfi_endproc
	.size \name, .-\name
	.endm

# restore_state brings the CFA back too, not only the registers.
function remember_cfa
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	.cfi_remember_state
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	.cfi_restore_state
	nop
end remember_cfa

function remember_nested
	.cfi_remember_state
	push %rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	.cfi_remember_state
	push %r12
	.cfi_def_cfa_offset 24
	.cfi_offset %r12, -24
	nop
	.cfi_restore_state
	nop
	.cfi_restore_state
	nop
end remember_nested

# The rows before the one that can't be are good.
function remember_unbalanced
	push %rbx
	.cfi_def_cfa_offset 16
	nop
	.cfi_escape 0x0b
	nop
end remember_unbalanced

# A state that is never restored is of no consequence.
function remember_unused
	.cfi_remember_state
	push %rbx
	.cfi_def_cfa_offset 16
	nop
end remember_unused

# restore gives back what the CIE says: RA at c-8 again, rbx not said.
function restore_cie
	.cfi_offset %rip, -24
	.cfi_offset %rbx, -16
	nop
	.cfi_restore %rip
	.cfi_restore %rbx
	nop
	.cfi_undefined %rbx
	nop
	.cfi_escape 0x06, 3		# restore_extended
	nop
end restore_cie

function ra_undefined
	.cfi_undefined %rip
	nop
end ra_undefined

function ra_register
	pop %rdx
	.cfi_def_cfa_offset 0
	.cfi_register %rip, %rdx
	nop
end ra_register

function expression
	.cfi_escape 0x10, 3, 2, 0x77, 0x10	# rbx is at rsp+16
	nop
	.cfi_escape 0x16, 3, 2, 0x77, 0x10	# rbx is rsp+16
	nop
end expression

# bn_mul_mont of OpenSSL: the CFA is at 8+rsp+8*r9.
function indexed
	nop
	.cfi_escape 0x0f, 10, 0x77, 8, 0x79, 0, 0x38, 0x1e, 0x22, 0x06, 0x23, 8
	nop
	.cfi_def_cfa %rsp, 8
	nop
end indexed

# val_offset is factored: 2*-8.
function val_offset
	.cfi_escape 0x14, 7, 2
	nop
	.cfi_escape 0x15, 7, 0x7e		# val_offset_sf
	nop
end val_offset

# The size of the arguments is no rule: it is not part of a state, and changes nothing else.
function args_size
	.cfi_remember_state
	nop
	.cfi_escape 0x2e, 0x90, 1
	nop
	.cfi_restore_state
	nop
end args_size

function negative_offset
	.cfi_escape 0x2f, 3, 2		# rbx at c+16
	nop
end negative_offset

function offset_sf
	.cfi_escape 0x11, 3, 0x7e	# rbx at c+16
	nop
	.cfi_escape 0x11, 3, 2		# rbx at c-16
	nop
end offset_sf

# def_cfa_offset_sf and def_cfa_sf are factored too.
function cfa_sf
	.cfi_escape 0x13, 0x7c		# rsp+32
	nop
	.cfi_escape 0x12, 6, 0x7e	# rbp+16
	nop
end cfa_sf
