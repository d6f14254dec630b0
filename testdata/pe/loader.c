/* Maps a DLL of Windows that imports nothing into a Linux process and calls one of its exported functions:
 *
 *   loader [-s] FILE FUNCTION ARGUMENT
 *
 * It prints what FUNCTION returns for ARGUMENT. Sections are mapped from the file itself, so that /proc/PID/maps has its
 * path and offsets: link with /filealign:4096. -s sends SIGUSR1 to itself before FUNCTION is called.
 *
 * Build: gcc -O1 loader.c */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __x86_64__
#define ABI __attribute__((ms_abi))
#else
#define ABI
#endif

static uint8_t *file, *base;

static uint32_t u32(const void *p) { uint32_t v; memcpy(&v, p, 4); return v; }
static uint16_t u16(const void *p) { uint16_t v; memcpy(&v, p, 2); return v; }
static uint64_t u64(const void *p) { uint64_t v; memcpy(&v, p, 8); return v; }

static void fail(const char *what) {
	perror(what);
	exit(1);
}

static void map_sections(int fd, const uint8_t *pe) {
	const uint8_t *s = pe + 24 + u16(pe + 20);
	for (int i = 0; i < u16(pe + 6); i++, s += 40) {
		uint32_t flags = u32(s + 36), size = u32(s + 8), raw = u32(s + 16);
		int prot = PROT_READ | (flags >> 31 ? PROT_WRITE : 0) | (flags >> 29 & 1 ? PROT_EXEC : 0);
		uint8_t *at = base + u32(s + 12);
		if (size == 0) continue;
		uint64_t pages = (size + 4095ul) & ~4095ul;
		/* Relocations are applied before the section gets its protection. */
		if (raw > 0 && mmap(at, raw < pages ? raw : pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, u32(s + 20)) == MAP_FAILED) fail("mmap");
		if (raw < pages && mmap(at + ((raw + 4095ul) & ~4095ul), pages - ((raw + 4095ul) & ~4095ul), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && pages > ((raw + 4095ul) & ~4095ul)) fail("mmap");
		(void)prot;
	}
}

static void protect_sections(const uint8_t *pe) {
	const uint8_t *s = pe + 24 + u16(pe + 20);
	for (int i = 0; i < u16(pe + 6); i++, s += 40) {
		uint32_t flags = u32(s + 36), size = u32(s + 8);
		if (size == 0) continue;
		int prot = PROT_READ | (flags >> 31 ? PROT_WRITE : 0) | (flags >> 29 & 1 ? PROT_EXEC : 0);
		if (mprotect(base + u32(s + 12), (size + 4095ul) & ~4095ul, prot) != 0) fail("mprotect");
	}
}

static void relocate(const uint8_t *optional, uint64_t delta) {
	uint8_t *b = base + u32(optional + 112 + 8 * 5), *end = b + u32(optional + 112 + 8 * 5 + 4);
	while (b < end) {
		uint32_t page = u32(b), size = u32(b + 4);
		for (uint32_t i = 8; i + 2 <= size; i += 2) {
			uint16_t r = u16(b + i);
			if (r >> 12 == 10) {
				uint64_t v = u64(base + page + (r & 4095)) + delta;
				memcpy(base + page + (r & 4095), &v, 8);
			} else if (r >> 12 != 0) exit(2);
		}
		b += size;
	}
}

static void *find(const uint8_t *optional, const char *name) {
	uint8_t *e = base + u32(optional + 112);
	for (uint32_t i = 0; i < u32(e + 24); i++)
		if (strcmp((char *)base + u32(base + u32(e + 32) + 4 * i), name) == 0)
			return base + u32(base + u32(e + 28) + 4 * u16(base + u32(e + 36) + 2 * i));
	fprintf(stderr, "no export %s\n", name);
	exit(1);
}

int main(int argc, char **argv) {
	int stop = argc > 1 && strcmp(argv[1], "-s") == 0;
	if (argc - stop != 4) return 2;
	argv += stop;
	int fd = open(argv[1], O_RDONLY);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) != 0) fail(argv[1]);
	file = mmap(0, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED) fail("mmap");
	static uint8_t headers[4096];
	memcpy(headers, file, sizeof headers);
	munmap(file, st.st_size);
	const uint8_t *pe = headers + u32(headers + 0x3c), *optional = pe + 24;
	uint32_t size = (u32(optional + 56) + 4095u) & ~4095u;
	base = mmap(0, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED) fail("mmap");
	if (mmap(base, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) fail("mmap");
	map_sections(fd, pe);
	relocate(optional, (uint64_t)base - u64(optional + 24));
	protect_sections(pe);
	uint64_t (ABI *f)(uint64_t) = find(optional, argv[2]);
	uint64_t argument = strtoul(argv[3], 0, 0);
	if (stop) raise(SIGUSR1);
	printf("%016lx\n", f(argument));
	return 0;
}
