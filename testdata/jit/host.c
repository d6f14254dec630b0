// A program that loads object files as a just-in-time compiler does, and tells debuggers of them (GDB manual, "JIT
// Compilation Interface"): host MODE OBJECT [OBJECT].
#define _GNU_SOURCE
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct entry {
	struct entry *next, *prev;
	const char *file;
	uint64_t size;
};

struct {
	uint32_t version, action;
	struct entry *relevant, *first;
} __jit_debug_descriptor = {1, 0, 0, 0};

__attribute__((noinline)) void __jit_debug_register_code(void) { __asm__ volatile("" ::: "memory"); }

static void enlist(struct entry *e)
{
	e->prev = 0;
	e->next = __jit_debug_descriptor.first;
	if (e->next)
		e->next->prev = e;
	__jit_debug_descriptor.first = __jit_debug_descriptor.relevant = e;
	__jit_debug_descriptor.action = 1;
	__jit_debug_register_code();
}

static void delist(struct entry *e)
{
	if (e->prev)
		e->prev->next = e->next;
	else
		__jit_debug_descriptor.first = e->next;
	if (e->next)
		e->next->prev = e->prev;
	__jit_debug_descriptor.relevant = e;
	__jit_debug_descriptor.action = 2;
	__jit_debug_register_code();
}

#define ROOM 65536
#define PLACE ((char *)0x10000000)

typedef long (*callback)(long);
typedef long (*function)(callback, long);

static char *file;
static uint64_t size;
static function outer, inner;

// read_file reads an object file into memory.
static void read_file(const char *path)
{
	FILE *f = fopen(path, "r");
	file = malloc(1 << 20);
	size = fread(file, 1, 1 << 20, f);
	fclose(f);
}

// load puts the code of the object into executable memory at PLACE.
static void load(const char *path)
{
	read_file(path);
	Elf64_Ehdr *h = (void *)file;
	Elf64_Shdr *s = (void *)(file + h->e_shoff);
	const char *names = file + s[h->e_shstrndx].sh_offset;
	char *code = mmap(PLACE, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (code != PLACE)
		exit(3);
	for (int i = 0; i < h->e_shnum; i++) {
		if (strcmp(names + s[i].sh_name, ".text"))
			continue;
		if (h->e_type == ET_REL)
			s[i].sh_addr = (uint64_t)code + 0x40;
		memcpy((char *)s[i].sh_addr, file + s[i].sh_offset, s[i].sh_size);
	}
	for (int i = 0; i < h->e_shnum; i++) {
		if (s[i].sh_type != SHT_SYMTAB)
			continue;
		Elf64_Sym *y = (void *)(file + s[i].sh_offset);
		const char *text = file + s[s[i].sh_link].sh_offset;
		for (uint64_t k = 0; k < s[i].sh_size / sizeof *y; k++) {
			uint64_t at = y[k].st_value + (h->e_type == ET_REL && y[k].st_shndx < h->e_shnum ? s[y[k].st_shndx].sh_addr : 0);
			const char *name = strchr(text + y[k].st_name, '_');
			if (name && !strcmp(name, "_outer"))
				outer = (function)at;
			if (name && !strcmp(name, "_inner"))
				inner = (function)at;
		}
	}
	mprotect(code, ROOM, PROT_READ | PROT_EXEC);
}

__attribute__((noinline)) long stop_here(long n)
{
	__asm__ volatile("" ::: "memory");
	return n;
}

__attribute__((noinline)) long die(long n)
{
	abort();
	return n;
}

static struct entry first, second, *many;

int main(int argc, char **argv)
{
	const char *mode = argv[1];
	load(argv[2]);
	first.file = file;
	first.size = size;
	long r = 0;
	if (!strcmp(mode, "call")) {
		enlist(&first);
		r = outer(stop_here, 1);
		delist(&first);
		r += outer(stop_here, 2);
	} else if (!strcmp(mode, "again")) { // other code at the same place, of the same entry
		enlist(&first);
		r = outer(stop_here, 1);
		delist(&first);
		char *old = file;
		load(argv[3]);
		memcpy(old, file, size);
		first.size = size;
		enlist(&first);
		r += outer(stop_here, 2);
	} else if (!strcmp(mode, "core")) {
		enlist(&first);
		r = outer(die, 1);
	} else if (!strcmp(mode, "quiet")) { // the list changes, and nobody is told
		first.next = 0;
		__jit_debug_descriptor.first = &first;
		r = outer(stop_here, 1);
	} else if (!strcmp(mode, "circular")) {
		first.next = &second;
		second = first;
		second.next = &first;
		__jit_debug_descriptor.first = &first;
		r = outer(stop_here, 1);
	} else if (!strcmp(mode, "unmapped")) {
		first.next = (void *)0x123456789000;
		__jit_debug_descriptor.first = &first;
		r = outer(stop_here, 1);
	} else if (!strcmp(mode, "huge")) {
		second = first;
		second.size = UINT64_MAX / 2;
		second.next = 0;
		first.next = &second;
		__jit_debug_descriptor.first = &first;
		r = outer(stop_here, 1);
	} else if (!strcmp(mode, "notelf")) {
		second.file = (char *)mode;
		second.size = 7;
		first.next = &second;
		__jit_debug_descriptor.first = &first;
		r = outer(stop_here, 1);
	} else if (!strcmp(mode, "version")) {
		__jit_debug_descriptor.version = 2;
		__jit_debug_descriptor.first = &first;
		r = outer(stop_here, 1);
	} else if (!strcmp(mode, "many")) {
		many = calloc(100000, sizeof *many);
		for (int i = 0; i < 100000; i++) {
			many[i] = first;
			many[i].next = i + 1 < 100000 ? &many[i + 1] : 0;
		}
		__jit_debug_descriptor.first = many;
		r = outer(stop_here, 1);
	} else if (!strcmp(mode, "perf")) {
		char path[64];
		snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
		FILE *f = fopen(path, "w");
		fprintf(f, "%lx 10 stale\n%lx 40 Outer:~made \x1b[31m.js:1\nnonsense\n%lx zz bad\n%lx 40 Inner\n", (long)outer, (long)outer, (long)outer, (long)inner);
		fclose(f);
		r = outer(stop_here, 1);
		unlink(path);
	}
	return r == 42;
}
