/* Maps a thin 64-bit Mach-O dylib into a Linux process, binds what it imports to this process's own functions and
 * calls one of its functions:
 *
 *   loader [-n] [-s] [-e OBJECT] FILE [FUNCTION [ARGUMENT]]
 *
 * It prints what FUNCTION (_run) returns for ARGUMENT (8), calls FILE's _finish if there is one, and exits with 0.
 *
 * Segments are mapped from the file itself, so that /proc/PID/maps has its path and offsets. Lazy pointers are bound
 * when they are first used, by way of __stub_helper; with -n all at once.
 *
 * -s sends SIGUSR1 to itself before anything in FILE is called, for who wants to look at it from there on.
 *
 * -e has the exceptions of this process's runtime thrown through FILE: its tables are made of __eh_frame of OBJECT,
 * the one object file that FILE was linked from (or FILE itself). The linker drops from FILE what __unwind_info has.
 *
 * Build: gcc -O1 -rdynamic loader.c -Wl,--no-as-needed -lstdc++ -lgcc_s -ldl (of arm64's C++ runtime the shared library is
 * enough: -l:libstdc++.so.6 -l:libgcc_s.so.1) */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What <mach-o/loader.h> and <mach-o/nlist.h> have. */
struct header { uint32_t magic, cpu, subtype, type, commands, size, flags, reserved; };
struct command { uint32_t cmd, size; };
struct segment {
	uint32_t cmd, cmdsize;
	char name[16];
	uint64_t addr, size, offset, filesize;
	uint32_t maxprot, prot, sections, flags;
};
struct section {
	char name[16], segname[16];
	uint64_t addr, size;
	uint32_t offset, align, reloff, relocs, flags, reserved1, reserved2, reserved3;
};
struct dyldinfo { uint32_t cmd, cmdsize, rebase, rebasesize, bind, bindsize, weak, weaksize, lazy, lazysize, export, exportsize; };
struct symtab { uint32_t cmd, cmdsize, symbols, count, strings, stringsize; };
struct symbol { uint32_t name; uint8_t type, section; uint16_t desc; uint64_t value; };

enum {
	magic64 = 0xfeedfacf, cpuX86 = 0x01000007, cpuARM = 0x0100000c,
	lcSymtab = 2, lcSegment = 0x19, lcDyldInfo = 0x22, lcDyldInfoOnly = 0x80000022, lcChained = 0x80000034,
	nType = 0xe, nSect = 0xe, nStab = 0xe0,
	initPointers = 9, initOffsets = 0x16, /* types of sections */
};

static void die(const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	fprintf(stderr, "loader: ");
	vfprintf(stderr, format, ap);
	fprintf(stderr, "\n");
	exit(2);
}

/* A file's bytes and the parts of it that matter. */
struct file {
	const char *path;
	unsigned char *data;
	struct segment *segment[16];
	int segments;
	struct symtab *symtab;
	struct dyldinfo *info;
	uint64_t base; /* of the address at which it is, to be added to the file's own */
};

static struct file image;

static struct section *sections(struct segment *s) { return (struct section *)(s + 1); }

static struct section *find_section(struct file *f, const char *segment, const char *name) {
	for (int i = 0; i < f->segments; i++)
		for (unsigned k = 0; k < f->segment[i]->sections; k++) {
			struct section *s = sections(f->segment[i]) + k;
			if (!strncmp(s->name, name, 16) && !strncmp(s->segname, segment, 16)) return s;
		}
	return NULL;
}

static int read_file(struct file *f, const char *path) {
	struct stat st;
	int fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &st)) die("%s can't be opened", path);
	f->path = path;
	f->data = malloc(st.st_size + 1);
	for (ssize_t n, at = 0; at < st.st_size; at += n)
		if ((n = pread(fd, f->data + at, st.st_size - at, at)) <= 0) die("%s can't be read", path);
	struct header *h = (void *)f->data;
#ifdef __x86_64__
	const uint32_t cpu = cpuX86;
#else
	const uint32_t cpu = cpuARM;
#endif
	if (st.st_size < (long)sizeof *h || h->magic != magic64) die("%s is no thin 64-bit Mach-O file", path);
	if (h->cpu != cpu) die("%s is for another processor", path);
	unsigned char *p = (void *)(h + 1);
	for (unsigned i = 0; i < h->commands; i++, p += ((struct command *)p)->size)
		switch (((struct command *)p)->cmd) {
		case lcSegment:
			if (f->segments == 16) die("%s has too many segments", path);
			f->segment[f->segments++] = (void *)p;
			break;
		case lcSymtab: f->symtab = (void *)p; break;
		case lcDyldInfo:
		case lcDyldInfoOnly: f->info = (void *)p; break;
		case lcChained: die("%s has chained fixups; link it with -no_fixup_chains", path);
		}
	return fd;
}

/* map maps the segments. Those of arm64 are aligned to 16 KB, here as there. */
static void map(struct file *f, int fd) {
	const uint64_t page = 4096, block = 16384;
	uint64_t lo = -1, hi = 0;
	for (int i = 0; i < f->segments; i++) {
		struct segment *s = f->segment[i];
		if (!s->size || !s->maxprot) continue;
		if (s->addr < lo) lo = s->addr;
		if (s->addr + s->size > hi) hi = s->addr + s->size;
	}
	uint64_t room = hi - lo + 2 * block;
	void *got = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (got == MAP_FAILED) die("there is no room for %s", f->path);
	f->base = ((uint64_t)got + block) / block * block - lo;
	for (int i = 0; i < f->segments; i++) {
		struct segment *s = f->segment[i];
		if (!s->size || !s->maxprot) continue;
		uint64_t at = f->base + s->addr, infile = (s->filesize + page - 1) / page * page, all = (s->size + page - 1) / page * page;
		if (infile && mmap((void *)at, infile, s->prot, MAP_PRIVATE | MAP_FIXED, fd, s->offset) == MAP_FAILED)
			die("%.16s of %s can't be mapped", s->name, f->path);
		if (infile > s->filesize && s->prot & PROT_WRITE) memset((void *)(at + s->filesize), 0, infile - s->filesize);
		if (all > infile && mmap((void *)(at + infile), all - infile, s->prot, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
			die("%.16s of %s can't be mapped", s->name, f->path);
	}
}

static uint64_t uleb(unsigned char **p) {
	uint64_t v = 0;
	int shift = 0;
	do v |= (uint64_t)(**p & 0x7f) << shift, shift += 7;
	while (*(*p)++ & 0x80);
	return v;
}

static int64_t sleb(unsigned char **p) {
	uint64_t v = 0;
	int shift = 0;
	do v |= (uint64_t)(**p & 0x7f) << shift, shift += 7;
	while (*(*p)++ & 0x80);
	return shift < 64 && (*p)[-1] & 0x40 ? v | -(1ull << shift) : v;
}

/* rebase runs the opcodes that add the base to pointers. */
static void rebase(struct file *f) {
	unsigned char *p = f->data + f->info->rebase, *end = p + f->info->rebasesize;
	uint64_t at = 0, n, skip;
	while (p < end) {
		unsigned imm = *p & 15, op = *p++ & 0xf0;
		n = skip = 0;
		switch (op) {
		case 0x00: return;
		case 0x10: if (imm != 1) die("%s has a rebase that is no pointer", f->path); break;
		case 0x20: at = f->base + f->segment[imm]->addr, at += uleb(&p); break;
		case 0x30: at += uleb(&p); break;
		case 0x40: at += imm * 8; break;
		case 0x50: n = imm; break;
		case 0x60: n = uleb(&p); break;
		case 0x70: n = 1, skip = uleb(&p); break;
		case 0x80: n = uleb(&p), skip = uleb(&p); break;
		default: die("%s has an unknown rebase opcode 0x%x", f->path, op);
		}
		for (; n; n--, at += 8 + skip) *(uint64_t *)at += f->base;
	}
}

/* Functions that Darwin has and Linux has not. */
uint64_t __stack_chk_guard = 0x5bd1e995cafe00ff;
void __bzero(void *p, size_t n) { memset(p, 0, n); }
static void pattern(char *to, const void *what, size_t size, size_t n) {
	for (; n >= size; n -= size, to += size) memcpy(to, what, size);
	memcpy(to, what, n);
}
void memset_pattern4(void *to, const void *what, size_t n) { pattern(to, what, 4, n); }
void memset_pattern8(void *to, const void *what, size_t n) { pattern(to, what, 8, n); }
void memset_pattern16(void *to, const void *what, size_t n) { pattern(to, what, 16, n); }
void dyld_stub_binder(void);

/* lookup finds what a name of the file means in this process. */
static uint64_t lookup(const char *name) {
	if (!strcmp(name, "dyld_stub_binder")) return (uint64_t)dyld_stub_binder;
	return name[0] == '_' ? (uint64_t)dlsym(RTLD_DEFAULT, name + 1) : 0;
}

/* bind runs the opcodes that store addresses of imports, from p on. A lazy binding is one entry of a list. Weak
 * ones whose name this process has not stay with the file's own definition. It returns the last address. */
static uint64_t bind(struct file *f, unsigned char *p, unsigned char *end, int lazy, int weak) {
	uint64_t at = 0, value = 0, n, skip;
	int64_t addend = 0;
	const char *name = "";
	while (p < end) {
		unsigned imm = *p & 15, op = *p++ & 0xf0;
		n = skip = 0;
		switch (op) {
		case 0x00: if (lazy) return value; break;
		case 0x10: case 0x30: break; /* the library does not matter: all names are the process's */
		case 0x20: uleb(&p); break;
		case 0x40: name = (char *)p, p += strlen(name) + 1; break;
		case 0x50: if (imm != 1) die("%s has a binding that is no pointer", f->path); break;
		case 0x60: addend = sleb(&p); break;
		case 0x70: at = f->base + f->segment[imm]->addr, at += uleb(&p); break;
		case 0x80: at += uleb(&p); break;
		case 0x90: n = 1; break;
		case 0xa0: n = 1, skip = uleb(&p); break;
		case 0xb0: n = 1, skip = imm * 8; break;
		case 0xc0: n = uleb(&p), skip = uleb(&p); break;
		default: die("%s has an unknown bind opcode 0x%x", f->path, op);
		}
		if (!n) continue;
		value = lookup(name);
		if (!value && !weak) die("%s needs %s, which this process has not", f->path, name);
		for (; n; n--, at += 8 + skip)
			if (value) *(uint64_t *)at = value + addend;
	}
	return value;
}

static void bind_all(struct file *f, int now) {
	struct dyldinfo *i = f->info;
	bind(f, f->data + i->bind, f->data + i->bind + i->bindsize, 0, 0);
	bind(f, f->data + i->weak, f->data + i->weak + i->weaksize, 0, 1);
	if (now) bind(f, f->data + i->lazy, f->data + i->lazy + i->lazysize, 0, 0);
}

/* bind_lazy binds the entry at an offset of the lazy opcodes. */
uint64_t bind_lazy(uint64_t offset) {
	unsigned char *p = image.data + image.info->lazy;
	return bind(&image, p + offset, p + image.info->lazysize, 1, 0);
}

/* __stub_helper jumps here with the entry's offset and the address of __dyld_private on the stack. All
 * registers in which arguments can be are kept. */
#ifdef __x86_64__
asm(".globl dyld_stub_binder\n.type dyld_stub_binder, @function\ndyld_stub_binder:\n"
	".cfi_startproc\n.cfi_def_cfa_offset 24\n"
	"push %rbp\n.cfi_def_cfa_offset 32\n.cfi_offset %rbp, -32\n"
	"mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"
	"sub $192, %rsp\n"
	"mov %rdi, (%rsp)\nmov %rsi, 8(%rsp)\nmov %rdx, 16(%rsp)\nmov %rcx, 24(%rsp)\n"
	"mov %r8, 32(%rsp)\nmov %r9, 40(%rsp)\nmov %rax, 48(%rsp)\nmov %r10, 56(%rsp)\n"
	"movups %xmm0, 64(%rsp)\nmovups %xmm1, 80(%rsp)\nmovups %xmm2, 96(%rsp)\nmovups %xmm3, 112(%rsp)\n"
	"movups %xmm4, 128(%rsp)\nmovups %xmm5, 144(%rsp)\nmovups %xmm6, 160(%rsp)\nmovups %xmm7, 176(%rsp)\n"
	"mov 16(%rbp), %rdi\ncall bind_lazy\nmov %rax, %r11\n"
	"mov (%rsp), %rdi\nmov 8(%rsp), %rsi\nmov 16(%rsp), %rdx\nmov 24(%rsp), %rcx\n"
	"mov 32(%rsp), %r8\nmov 40(%rsp), %r9\nmov 48(%rsp), %rax\nmov 56(%rsp), %r10\n"
	"movups 64(%rsp), %xmm0\nmovups 80(%rsp), %xmm1\nmovups 96(%rsp), %xmm2\nmovups 112(%rsp), %xmm3\n"
	"movups 128(%rsp), %xmm4\nmovups 144(%rsp), %xmm5\nmovups 160(%rsp), %xmm6\nmovups 176(%rsp), %xmm7\n"
	"leave\n.cfi_def_cfa %rsp, 24\n.cfi_same_value %rbp\n"
	"add $16, %rsp\n.cfi_def_cfa_offset 8\n"
	"jmp *%r11\n.cfi_endproc\n.size dyld_stub_binder, .-dyld_stub_binder\n");
#else
asm(".globl dyld_stub_binder\n.type dyld_stub_binder, %function\ndyld_stub_binder:\n"
	".cfi_startproc\n.cfi_def_cfa_offset 16\n"
	"stp x29, x30, [sp, #-224]!\n.cfi_def_cfa_offset 240\n.cfi_offset x29, -240\n.cfi_offset x30, -232\n"
	"mov x29, sp\n"
	"stp x0, x1, [sp, #16]\nstp x2, x3, [sp, #32]\nstp x4, x5, [sp, #48]\nstp x6, x7, [sp, #64]\nstr x8, [sp, #80]\n"
	"stp q0, q1, [sp, #96]\nstp q2, q3, [sp, #128]\nstp q4, q5, [sp, #160]\nstp q6, q7, [sp, #192]\n"
	"ldr x0, [sp, #224]\nbl bind_lazy\nmov x16, x0\n"
	"ldp x0, x1, [sp, #16]\nldp x2, x3, [sp, #32]\nldp x4, x5, [sp, #48]\nldp x6, x7, [sp, #64]\nldr x8, [sp, #80]\n"
	"ldp q0, q1, [sp, #96]\nldp q2, q3, [sp, #128]\nldp q4, q5, [sp, #160]\nldp q6, q7, [sp, #192]\n"
	"ldp x29, x30, [sp], #224\n.cfi_def_cfa_offset 16\n.cfi_restore x29\n.cfi_restore x30\n"
	"add sp, sp, #16\n.cfi_def_cfa_offset 0\n"
	"br x16\n.cfi_endproc\n.size dyld_stub_binder, .-dyld_stub_binder\n");
#endif

static struct symbol *symbol(struct file *f, unsigned i) { return (struct symbol *)(f->data + f->symtab->symbols) + i; }
static const char *name_of(struct file *f, struct symbol *s) { return (char *)f->data + f->symtab->strings + s->name; }
static int defined(struct symbol *s) { return (s->type & nType) == nSect && !(s->type & nStab); }

/* named finds a symbol that the file defines: where it is in this process, or 0. */
static uint64_t named(struct file *f, const char *name) {
	for (unsigned i = 0; i < f->symtab->count; i++)
		if (defined(symbol(f, i)) && !strcmp(name_of(f, symbol(f, i)), name)) return f->base + symbol(f, i)->value;
	return 0;
}

/* moved says where what an object has at an address has come to, by the names of what is there. */
static uint64_t moved(struct file *o, uint64_t addr) {
	for (unsigned i = 0; i < o->symtab->count; i++) {
		struct symbol *s = symbol(o, i);
		uint64_t to = 0;
		if (defined(s) && s->value == addr && (to = named(&image, name_of(o, s)))) return to;
	}
	die("%s has not what is at 0x%llx of %s", image.path, (unsigned long long)addr, o->path);
	return 0;
}

void __register_frame(void *);

/* relocate adds to what stands in a section of an object the differences of symbols that are asked for there: arm64's pairs of
 * ARM64_RELOC_SUBTRACTOR and ARM64_RELOC_UNSIGNED. x86-64's assembler has subtracted already. */
static void relocate(struct file *o, struct section *s) {
#ifdef __aarch64__
	struct reloc { uint32_t addr, info; } *r = (void *)(o->data + s->reloff);
	for (unsigned i = 0; i + 1 < s->relocs; i++) {
		if (r[i].info >> 28 != 1) continue;
		if (r[i + 1].info >> 28 || r[i].addr != r[i + 1].addr || r[i].addr + 8ull > s->size || (r[i].info & r[i + 1].info & 14u << 24) != 14u << 24)
			die("__eh_frame of %s has an unknown kind of relocation", o->path);
		uint64_t v;
		unsigned char *at = o->data + s->offset + r[i].addr;
		memcpy(&v, at, 8);
		v += symbol(o, r[i + 1].info & 0xffffff)->value - symbol(o, r[i].info & 0xffffff)->value;
		memcpy(at, &v, 8);
	}
#endif
}

/* register_frames makes tables for this process's runtime of o's __eh_frame: the same instructions, but all pointers
 * absolute. Clang's CIEs are those of "zR" and "zPLR", with pointers relative to themselves. */
static void register_frames(struct file *o) {
	struct section *s = find_section(o, "__TEXT", "__eh_frame");
	if (!s) die("%s has no __eh_frame", o->path);
	relocate(o, s);
	uint64_t personality = 0;
	unsigned char *in = o->data + s->offset, *end = in + s->size;
	unsigned char *table = calloc(1, 2 * s->size + 4096), *out = table, *cie = NULL, *cie_in = NULL;
	int with_lsda = 0;
	for (uint32_t length; in < end; in += length) {
		memcpy(&length, in, 4);
		if (!length) break;
		length += 4;
		uint64_t addr = s->addr + (in - (o->data + s->offset));
		uint32_t id;
		memcpy(&id, in + 4, 4);
		unsigned char *from, *start = out;
		out += 8;
		if (!id) {
			const char *augmentation = (char *)in + 9;
			with_lsda = !strcmp(augmentation, "zPLR");
			if (in[8] != 1 || (!with_lsda && strcmp(augmentation, "zR"))) die("__eh_frame of %s has an unknown kind of CIE", o->path);
			from = in + 9 + strlen(augmentation) + 1;
			uleb(&from), sleb(&from), uleb(&from);
			uint64_t n = uleb(&from);
			memcpy(out, in + 8, from - in - 8); /* up to the augmentation's length, which is one byte */
			out += from - in - 8 - 1;
			from += n;
			if (with_lsda) {
				if (!personality && !(personality = lookup("___gxx_personality_v0"))) die("there is no __gxx_personality_v0");
				*out++ = 11, *out++ = 0;
				memcpy(out, &personality, 8), out += 8;
				*out++ = 0, *out++ = 0;
			} else
				*out++ = 1, *out++ = 0;
			cie = start, cie_in = in;
		} else {
			if (in + 4 - id != cie_in) die("an FDE of %s is not behind its CIE", o->path);
			uint32_t back = start + 4 - cie;
			memcpy(start + 4, &back, 4);
			uint64_t pc, size, lsda = 0;
			memcpy(&pc, in + 8, 8), memcpy(&size, in + 16, 8);
			pc = moved(o, pc + addr + 8);
			from = in + 24;
			uint64_t n = uleb(&from), at = addr + (from - in);
			if (n) {
				memcpy(&lsda, from, 8);
				if (lsda) lsda = moved(o, lsda + at);
			}
			from += n;
			memcpy(out, &pc, 8), memcpy(out + 8, &size, 8), out += 16;
			*out++ = with_lsda ? 8 : 0;
			if (with_lsda) memcpy(out, &lsda, 8), out += 8;
		}
		memcpy(out, from, in + length - from);
		out += in + length - from;
		while ((out - start) % 8 != 4) *out++ = 0; /* DW_CFA_nop */
		uint32_t made = out - start - 4;
		memcpy(start, &made, 4);
	}
	__register_frame(table);
}

static void initialise(struct file *f, int argc, char **argv, char **envp) {
	for (int i = 0; i < f->segments; i++)
		for (unsigned k = 0; k < f->segment[i]->sections; k++) {
			struct section *s = sections(f->segment[i]) + k;
			if ((s->flags & 0xff) == initOffsets) die("%s has initializers that are offsets", f->path);
			if ((s->flags & 0xff) != initPointers) continue;
			for (uint64_t n = 0; n < s->size / 8; n++)
				((void (**)(int, char **, char **))(f->base + s->addr))[n](argc, argv, envp);
		}
}

int main(int argc, char **argv, char **envp) {
	int option, now = 0, stop = 0;
	const char *object = NULL;
	while ((option = getopt(argc, argv, "+nse:")) != -1)
		switch (option) {
		case 'n': now = 1; break;
		case 's': stop = 1; break;
		case 'e': object = optarg; break;
		default: return 2;
		}
	if (optind == argc) die("usage: loader [-n] [-s] [-e OBJECT] FILE [FUNCTION [ARGUMENT]]");
	const char *path = argv[optind], *name = optind + 1 < argc ? argv[optind + 1] : "_run";
	long argument = optind + 2 < argc ? atol(argv[optind + 2]) : 8;

	int fd = read_file(&image, path);
	if (!image.info || !image.symtab) die("%s has no LC_DYLD_INFO or no symbols", path);
	map(&image, fd);
	rebase(&image);
	bind_all(&image, now);
	if (object) {
		struct file *o = calloc(1, sizeof *o);
		close(read_file(o, object));
		register_frames(o);
	}
	uint64_t (*run)(long) = (void *)named(&image, name);
	void (*finish)(int) = (void *)named(&image, "_finish");
	if (!run) die("%s has no function %s", path, name);
	if (stop) raise(SIGUSR1);
	initialise(&image, argc, argv, envp);
	printf("%016llx\n", (unsigned long long)run(argument));
	fflush(stdout);
	if (finish) finish(0);
	return 0;
}
