# Variables of "outer" whose locations are written by hand, for "info why". stop is the callee.
	.text
	.globl	stop, outer, main
.Ltext:
stop:
	.cfi_startproc
	xor	%eax, %eax
	ret
	.cfi_endproc
.Lstop_end:
outer:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	mov	%edi, %ebx
.Lbefore:
	call	stop
.Lafter:
	mov	%ebx, %eax
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
.Louter_end:
main:
	.cfi_startproc
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	mov	$42, %edi
	call	outer
	xor	%eax, %eax
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
.Lend:

	.section .debug_abbrev,"",@progbits
.Labbrev:
	.uleb128 1, 0x11
	.byte 1			# DW_TAG_compile_unit, with children
	.uleb128 0x25, 0x08	# producer, string
	.uleb128 0x13, 0x0b	# language, data1
	.uleb128 0x03, 0x08	# name
	.uleb128 0x11, 0x01	# low_pc, addr
	.uleb128 0x12, 0x07	# high_pc, data8
	.uleb128 0, 0
	.uleb128 2, 0x2e
	.byte 1			# DW_TAG_subprogram, with children
	.uleb128 0x03, 0x08
	.uleb128 0x11, 0x01
	.uleb128 0x12, 0x07
	.uleb128 0x3f, 0x19	# external, flag_present
	.uleb128 0, 0
	.uleb128 3, 0x34
	.byte 0			# DW_TAG_variable with a list
	.uleb128 0x03, 0x08
	.uleb128 0x49, 0x13	# type, ref4
	.uleb128 0x02, 0x17	# location, sec_offset
	.uleb128 0, 0
	.uleb128 4, 0x34
	.byte 0			# DW_TAG_variable with an expression
	.uleb128 0x03, 0x08
	.uleb128 0x49, 0x13
	.uleb128 0x02, 0x18	# location, exprloc
	.uleb128 0, 0
	.uleb128 5, 0x34
	.byte 0			# DW_TAG_variable without a location
	.uleb128 0x03, 0x08
	.uleb128 0x49, 0x13
	.uleb128 0, 0
	.uleb128 6, 0x24
	.byte 0			# DW_TAG_base_type
	.uleb128 0x03, 0x08
	.uleb128 0x0b, 0x0b	# byte_size
	.uleb128 0x3e, 0x0b	# encoding
	.uleb128 0, 0
	.uleb128 7, 0x13
	.byte 1			# DW_TAG_structure_type, with children
	.uleb128 0x03, 0x08
	.uleb128 0x0b, 0x0b
	.uleb128 0, 0
	.uleb128 8, 0x0d
	.byte 0			# DW_TAG_member
	.uleb128 0x03, 0x08
	.uleb128 0x49, 0x13
	.uleb128 0x38, 0x0b	# data_member_location, data1
	.uleb128 0, 0
	.byte 0

	.section .debug_info,"",@progbits
.Linfo:
	.long .Linfo_end - .Linfo_start
.Linfo_start:
	.short 5
	.byte 1, 8
	.long .Labbrev
	.uleb128 1
	.string "by hand"
	.byte 0x0c		# DW_LANG_C99
	.string "why.s"
	.quad .Ltext
	.quad .Lend - .Ltext
.Lint:
	.uleb128 6
	.string "int"
	.byte 4, 5
.Lself:				# a structure that contains itself, twice
	.uleb128 7
	.string "self"
	.byte 8
	.uleb128 8
	.string "a"
	.long .Lself - .Linfo
	.byte 0
	.uleb128 8
	.string "b"
	.long .Lself - .Linfo
	.byte 4
	.byte 0
	.uleb128 2
	.string "stop"
	.quad stop
	.quad .Lstop_end - stop
	.byte 0
	.uleb128 2
	.string "outer"
	.quad outer
	.quad .Louter_end - outer
	.uleb128 3
	.string "gap"
	.long .Lint - .Linfo
	.long .Lgap
	.uleb128 3
	.string "empty"
	.long .Lint - .Linfo
	.long .Lempty
	.uleb128 3
	.string "usual"
	.long .Lint - .Linfo
	.long .Lusual
	.uleb128 3
	.string "broken"
	.long .Lint - .Linfo
	.long .Lbroken
	.uleb128 4
	.string "lost"
	.long .Lint - .Linfo
	.uleb128 1
	.byte 0x50		# DW_OP_reg0: rax
	.uleb128 4
	.string "saved"
	.long .Lint - .Linfo
	.uleb128 1
	.byte 0x53		# DW_OP_reg3: rbx
	.uleb128 4
	.string "passed"
	.long .Lint - .Linfo
	.uleb128 4
	.byte 0xa3, 1, 0x55, 0x9f	# DW_OP_entry_value(reg5), DW_OP_stack_value
	.uleb128 4
	.string "nowhere"
	.long .Lint - .Linfo
	.uleb128 2
	.byte 0x08, 16		# DW_OP_const1u
	.uleb128 5
	.string "removed"
	.long .Lint - .Linfo
	.byte 0
	.uleb128 2
	.string "main"
	.quad main
	.quad .Lend - main
	.byte 0
	.byte 0
.Linfo_end:

	.section .debug_loclists,"",@progbits
	.long .Llists_end - .Llists_start
.Llists_start:
	.short 5
	.byte 8, 0
	.long 0
.Lgap:
	.byte 7			# DW_LLE_start_end
	.quad outer, .Lbefore
	.uleb128 1
	.byte 0x55		# rdi
	.byte 7
	.quad .Lafter, .Louter_end
	.uleb128 1
	.byte 0x53		# rbx
	.byte 0
.Lempty:
	.byte 7
	.quad outer, .Lbefore
	.uleb128 1
	.byte 0x55
	.byte 7
	.quad .Lbefore, .Lafter
	.uleb128 0
	.byte 0
.Lusual:
	.byte 5			# DW_LLE_default_location
	.uleb128 1
	.byte 0x53
	.byte 7
	.quad outer, .Lbefore
	.uleb128 1
	.byte 0x55
	.byte 0
.Lbroken:
	.byte 0x7f		# no kind of entry
.Llists_end:
	.section .note.GNU-stack,"",@progbits
