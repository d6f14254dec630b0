@ Every unwinding instruction of EHABI32, section 10.3, and every model of an entry.
	.syntax unified
	.arch armv7-a
	.fpu neon
	.text
	.thumb
	.type f0,%function
	.thumb_func
f0:	.fnstart
	bx lr
	.unwind_raw 4, 0xb5
	.unwind_raw 4, 0xb4
	.unwind_raw 4, 0xb6
	.unwind_raw 4, 0xb7
	.unwind_raw 4, 0xb1, 0x00
	.unwind_raw 4, 0xb1, 0x10
	.unwind_raw 4, 0xb2, 0x04, 0x01
	.unwind_raw 4, 0xb2, 0x84, 0x01
	.unwind_raw 4, 0xb3, 0x83
	.unwind_raw 4, 0xba
	.unwind_raw 4, 0xbf
	.unwind_raw 4, 0xc1
	.unwind_raw 4, 0xc5
	.unwind_raw 4, 0xc6, 0xa2
	.unwind_raw 4, 0xc6, 0xf0
	.unwind_raw 4, 0xc7, 0x03
	.unwind_raw 4, 0xc7, 0x00
	.unwind_raw 4, 0xc7, 0x1f
	.unwind_raw 4, 0xc8, 0x13
	.unwind_raw 4, 0xc8, 0xf0
	.unwind_raw 4, 0xc9, 0x83
	.unwind_raw 4, 0xc9, 0x0f
	.unwind_raw 4, 0xca
	.unwind_raw 4, 0xcf
	.unwind_raw 4, 0xd3
	.unwind_raw 4, 0xd7
	.unwind_raw 4, 0xd8
	.unwind_raw 4, 0xe3
	.unwind_raw 4, 0xf0
	.unwind_raw 4, 0xff
	.unwind_raw 4, 0x97
	.unwind_raw 4, 0x90
	.unwind_raw 4, 0x9d
	.unwind_raw 4, 0x9f
	.unwind_raw 4, 0x80, 0x00
	.unwind_raw 4, 0x8f, 0xff
	.unwind_raw 4, 0x80, 0x01
	.unwind_raw 4, 0x88, 0x00
	.unwind_raw 4, 0x41
	.unwind_raw 4, 0x7f
	.unwind_raw 4, 0x00
	.unwind_raw 4, 0x3f
	.unwind_raw 4, 0xa3
	.unwind_raw 4, 0xa0
	.unwind_raw 4, 0xaf
	.unwind_raw 4, 0xb1, 0x0f
	.unwind_raw 4, 0xb1, 0x01
	.unwind_raw 4, 0xb0
	.fnend
	.type f1,%function
	.thumb_func
f1:	.fnstart
	bx lr
	.cantunwind
	.fnend
	.type f2,%function
	.thumb_func
f2:	.fnstart
	bx lr
	.unwind_raw 4, 0xa8
	.personality __gxx_personality_v0
	.handlerdata	@ no types; a call site without a landing pad, and one for cleanup
	.byte 0xff, 0xff, 0x01, 8, 0, 1, 0, 0, 1, 1, 2, 0
	.fnend
	.type f3,%function
	.thumb_func
f3:	.fnstart
	bx lr
	.personality other
	.handlerdata
	.word 0x11223344
	.fnend
	.type f4,%function
	.thumb_func
f4:	.fnstart
	bx lr
	.unwind_raw 4, 0x03
	.personalityindex 2
	.handlerdata
	.word 0x11223344, 0
	.fnend
	.type f5,%function
	.thumb_func
f5:	.fnstart
	bx lr
	.unwind_raw 4, 0x03
	.personalityindex 0
	.handlerdata
	.word 0
	.fnend
	.type f6,%function
	.thumb_func
f6:	.fnstart
	bx lr
	.unwind_raw 4, 0xaf
	.fnend
	.globl __gxx_personality_v0
	.type __gxx_personality_v0,%function
	.thumb_func
__gxx_personality_v0:
	bx lr
	.globl other
	.type other,%function
	.thumb_func
other:
	bx lr
	.globl _start
	.type _start,%function
	.thumb_func
_start:
	bx lr
	.globl __aeabi_unwind_cpp_pr0
	.type __aeabi_unwind_cpp_pr0,%function
	.thumb_func
__aeabi_unwind_cpp_pr0:
	bx lr
	.globl __aeabi_unwind_cpp_pr1
	.type __aeabi_unwind_cpp_pr1,%function
	.thumb_func
__aeabi_unwind_cpp_pr1:
	bx lr
	.globl __aeabi_unwind_cpp_pr2
	.type __aeabi_unwind_cpp_pr2,%function
	.thumb_func
__aeabi_unwind_cpp_pr2:
	bx lr
