// A program that copies a function to memory of its own and describes the copy only in libunwind's
// dynamic unwind information (libunwind-dynamic(3)): host KIND. The copy calls back. With LIBUNWIND
// defined it registers with the real library; otherwise it keeps such a list itself.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef LIBUNWIND
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#else
typedef uintptr_t word;
typedef struct { int8_t tag, qp; int16_t reg; int32_t when; word val; } unw_dyn_op_t;
typedef struct region { struct region *next; int32_t insn_count; uint32_t op_count; unw_dyn_op_t op[1]; } unw_dyn_region_info_t;
typedef struct info {
	struct info *next, *prev;
	word start_ip, end_ip, gp;
	int32_t format, pad;
	word load_offset;
	union {
		struct { word name_ptr, handler; uint32_t flags; int32_t pad0; unw_dyn_region_info_t *regions; } pi;
		struct { word name_ptr, segbase, table_len, table_data; } rti;
	} u;
} unw_dyn_info_t;
struct { uint32_t version, generation; unw_dyn_info_t *first; } _U_dyn_info_list;

static void _U_dyn_register(unw_dyn_info_t *x)
{
	_U_dyn_info_list.generation++;
	x->next = _U_dyn_info_list.first;
	x->prev = 0;
	if (x->next)
		x->next->prev = x;
	_U_dyn_info_list.first = x;
}

static void _U_dyn_cancel(unw_dyn_info_t *x)
{
	_U_dyn_info_list.generation++;
	if (x->prev)
		x->prev->next = x->next;
	else
		_U_dyn_info_list.first = x->next;
	if (x->next)
		x->next->prev = x->prev;
}
#endif

enum { STOP, SAVE_REG, SPILL_FP, SPILL_SP, ADD, POP, LABEL, COPY, ALIAS };
enum { RBX = 3, RBP = 6, RSP = 7, RIP = 16 };

// The template has two exits, so that the state after the first one is a copy of the body's.
__asm__(".text\n"
	"template:\n.cfi_startproc\n"
	"push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6, -16\n"
	"mov %rsp, %rbp\n.cfi_def_cfa_register 6\n"
	"push %rbx\n.cfi_offset 3, -24\n"
	"sub $0x18, %rsp\n"
	"mov %rsi, %rbx\n"
	"mov %rdi, %rax\n"
	"mov %rsi, %rdi\n"
	"call *%rax\n"
	"test %rax, %rax\n"
	"jne 1f\n"
	"first_exit: add $0x18, %rsp\n"
	"pop %rbx\n.cfi_remember_state\n.cfi_restore 3\n"
	"pop %rbp\n.cfi_def_cfa 7, 8\n.cfi_restore 6\n"
	"ret\n"
	"1: .cfi_restore_state\nadd %rbx, %rax\n"
	"second_exit: add $0x18, %rsp\n"
	"pop %rbx\n.cfi_restore 3\n"
	"pop %rbp\n.cfi_def_cfa 7, 8\n.cfi_restore 6\n"
	"ret\n"
	"template_end: .cfi_endproc\n");
extern char template[], first_exit[], second_exit[], template_end[];
#define SIZE (template_end - template)

static unw_dyn_region_info_t *last;
static unw_dyn_info_t info, other;

// add_region adds a region with room for its operations.
static unw_dyn_region_info_t *add_region(int count)
{
	unw_dyn_region_info_t *r = calloc(1, sizeof *r + 16 * sizeof(unw_dyn_op_t));
	r->insn_count = count;
	r->op_count = 16;
	if (last)
		last->next = r;
	else
		info.u.pi.regions = r;
	return last = r;
}

static void op(int tag, int when, int reg, long val)
{
	int i = 0;
	while (last->op[i].tag)
		i++;
	last->op[i] = (unw_dyn_op_t){tag, 0, reg, when, val};
}

// leave describes one of the exits: offsets 0, 4 and 5 are add, pop and pop.
static void leave(const char *kind, int regions)
{
	if (!strcmp(kind, "pop")) {
		op(POP, 5, 0, regions);
		return;
	}
	op(ADD, 0, RSP, 0x18);
	op(ADD, 4, RSP, 8);
	op(SAVE_REG, 4, RBX, RBX);
	op(ADD, 5, RSP, 8);
	op(SAVE_REG, 5, RBP, RBP);
	op(SAVE_REG, 5, RSP, RSP);
}

static void regions(const char *kind)
{
	int fp = !strcmp(kind, "fp") || !strcmp(kind, "pop");
	add_region(0); // the call
	op(ADD, 0, RSP, -8);
	op(SPILL_SP, 0, RIP, 0);
	add_region(9); // the prologue, its operations in another order
	op(ADD, 4, RSP, -8);
	op(ADD, 5, RSP, -0x18);
	op(ADD, 0, RSP, -8);
	op(SPILL_SP, 0, RBP, 0);
	if (fp) {
		op(SAVE_REG, 1, RSP, RBP);
		op(SPILL_FP, 4, RBX, -8);
	} else {
		op(SPILL_SP, 4, RBX, 0);
	}
	op(LABEL, -1, 0, 77);
	add_region(first_exit - template - 9); // the body
	add_region(7);                         // the first exit
	leave(kind, 3);
	add_region(second_exit - first_exit - 7);
	op(COPY, -1, 0, 77);
	add_region(-7);
	leave(kind, 2); // the state of the label was inside of two regions
}

// table describes the code with an .eh_frame of its own and a search table.
static void table(char *code, int offsets)
{
	static unsigned char frames[256];
	unsigned char *p = frames;
	static const unsigned char cie[] = {20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0, 0, 0, 0, 0};
	memcpy(p, cie, sizeof cie);
	p += sizeof cie;
	unsigned char body[] = {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x41, 0x83, 3, 0x40 | (first_exit - template), 0x0a, 0xc3,
		0x41, 0x0c, 7, 8, 0xc6, 0x41, 0x0b, 0x40 | (second_exit - first_exit - 2), 0xc3, 0x41, 0x0c, 7, 8, 0xc6, 0, 0};
	uint32_t length = 4 + 16 + sizeof body, to_cie = p + 4 - frames;
	uintptr_t start = (uintptr_t)code, size = SIZE;
	memcpy(p, &length, 4);
	memcpy(p + 4, &to_cie, 4);
	memcpy(p + 8, &start, 8);
	memcpy(p + 16, &size, 8);
	memcpy(p + 24, body, sizeof body);
	static int32_t search[2];
	uintptr_t base = (uintptr_t)code - 16;
	if (labs((long)(p - (unsigned char *)base)) > INT32_MAX)
		exit(3);
	search[0] = offsets ? 0 : 16;
	search[1] = (char *)p - (char *)base;
	info.format = offsets ? 4 : 2;
	info.u.rti.segbase = base;
	info.u.rti.table_data = (uintptr_t)search;
	info.u.rti.table_len = 1;
}

__attribute__((noinline)) void stop_here(void) { __asm__ volatile("" ::: "memory"); }

static int dies;

__attribute__((noinline)) static long back(long n)
{
#ifdef LIBUNWIND
	unw_context_t context;
	unw_cursor_t cursor;
	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	do {
		unw_word_t ip, sp;
		unw_get_reg(&cursor, UNW_REG_IP, &ip);
		unw_get_reg(&cursor, UNW_REG_SP, &sp);
		printf("%lx %lx\n", (long)ip, (long)sp);
	} while (unw_step(&cursor) > 0);
	fflush(stdout);
#endif
	stop_here();
	if (dies)
		abort();
	return n;
}

typedef long (*function)(long (*)(long), long);

__attribute__((noinline)) static long call(function f, long n) { return f(back, n) + 1; }

static char *place(char *at)
{
	char *code = mmap(at, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		exit(2);
	memcpy(code += 64, template, SIZE);
	return code;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 1;
	const char *kind = argv[1]; // a second argument makes the callback abort
	char *code = place((char *)(((uintptr_t)template & ~4095ul) + 0x2000000));
	info.start_ip = (uintptr_t)code;
	info.end_ip = info.start_ip + SIZE;
	info.u.pi.name_ptr = (uintptr_t)"made_function";
	if (!strcmp(kind, "table") || !strcmp(kind, "offsets")) {
		table(code, kind[0] == 'o');
	} else if (!strcmp(kind, "alias")) {
		add_region(SIZE);
		op(ALIAS, -1, 0, (long)template);
	} else {
		regions(kind);
	}
	_U_dyn_register(&info);
	function f = (function)code;
	if (!strcmp(kind, "realias")) { // the copy of a copy
		char *second = place(0);
		memset(&other, 0, sizeof other);
		other.start_ip = (uintptr_t)second;
		other.end_ip = other.start_ip + SIZE;
		other.u.pi.name_ptr = (uintptr_t)"second";
		unw_dyn_region_info_t *r = calloc(1, sizeof *r);
		r->insn_count = SIZE;
		r->op_count = 1;
		r->op[0] = (unw_dyn_op_t){ALIAS, 0, 0, -1, info.start_ip};
		other.u.pi.regions = r;
		_U_dyn_register(&other);
		f = (function)second;
	}
	dies = argc > 2;
	call(f, 0);
	call(f, 1);
	_U_dyn_cancel(&info);
	call(f, 1);
	return 0;
}
