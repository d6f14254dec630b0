// A program that copies a function to memory of its own and describes the copy with call frame
// information that it registers with the runtime library: host KIND [dies]. The copy calls back.
// The kinds are frame, info and table, for the three functions that register, and sorted, which makes
// the library read the information before. LLVM's library takes one entry (kind entry), and
// a section (kind section).
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unwind.h>

extern void __register_frame(void *), __deregister_frame(void *);
#ifndef LLVM
extern void __register_frame_info(const void *, void *), *__deregister_frame_info(const void *);
extern void __register_frame_table(void *);
#else
extern void __unw_add_dynamic_fde(uintptr_t), __unw_remove_dynamic_fde(uintptr_t);
extern void __unw_add_dynamic_eh_frame_section(uintptr_t);
#endif

// The template uses no frame pointer: its caller is at no fixed place.
__asm__(".text\n"
	"template:\n"
	"push %rbx\n"             // 0
	"sub $0x140, %rsp\n"      // 1
	"mov %rbp, 0x138(%rsp)\n" // 8
	"xor %ebp, %ebp\n"        // 16
	"mov %rsi, %rbx\n"        // 18
	"mov %rdi, %rax\n"        // 21
	"mov %rsi, %rdi\n"        // 24
	"call *%rax\n"            // 27
	"add %rbx, %rax\n"        // 29
	"mov 0x138(%rsp), %rbp\n" // 32
	"add $0x140, %rsp\n"      // 40
	"pop %rbx\n"              // 47
	"ret\n"                   // 48
	"template_end:\n");
extern char template[], template_end[];

typedef struct {
	uint32_t length, id;
	uint8_t version, augmentation, code, data, ra, program[11];
} cie_t;
typedef struct {
	uint32_t length, cie;
	void *start;
	uintptr_t size;
	uint8_t program[24];
} __attribute__((packed)) fde_t;
static struct {
	cie_t cie;
	fde_t fde;
	uint32_t end;
} frames __attribute__((aligned(8))) = {
	{sizeof(cie_t) - 4, 0, 1, 0, 1, 0x78, 16, {0x0c, 7, 8, 0x90, 1}},
	{sizeof(fde_t) - 4, sizeof(cie_t) + 4, 0, 0,
	 {0x41, 0x0e, 16, 0x83, 2, 0x47, 0x0e, 0xd0, 0x02, 0x48, 0x86, 3, 0x58, 0xc6, 0x47, 0x0e, 16, 0x41, 0x0e, 8, 0xc3}},
};
static void *table[] = {&frames, 0};
static void *object[8];
static int die;

__attribute__((noinline)) void stop_here(void)
{
	__asm__ volatile("");
	if (die)
		abort();
}

static long callback(long x)
{
	stop_here();
	return x + 1;
}

__attribute__((noinline)) long call(void *made)
{
	return ((long (*)(long (*)(long), long))made)(callback, 7) + 1;
}

static _Unwind_Reason_Code frame(struct _Unwind_Context *c, void *arg)
{
	return _URC_NO_REASON;
}

int main(int argc, char **argv)
{
	const char *kind = argv[1];
	die = argc > 2;
	char *made = mmap(0, 1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(made, template, template_end - template);
	frames.fde.start = made;
	frames.fde.size = template_end - template;
#ifdef LLVM
	if (!strcmp(kind, "entry"))
		__unw_add_dynamic_fde((uintptr_t)&frames.fde);
	else
		__unw_add_dynamic_eh_frame_section((uintptr_t)&frames);
	call(made);
#else
	if (!strcmp(kind, "info"))
		__register_frame_info(&frames, object);
	else if (!strcmp(kind, "table"))
		__register_frame_table(table);
	else
		__register_frame(&frames);
	if (!strcmp(kind, "sorted"))
		_Unwind_Backtrace(frame, 0);
	call(made);
	if (!strcmp(kind, "info"))
		__deregister_frame_info(&frames);
	else if (!strcmp(kind, "table"))
		__deregister_frame(table);
	else
		__deregister_frame(&frames);
	call(made);
#endif
	return 0;
}
