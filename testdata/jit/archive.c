// A program that maps libraries that are stored in an archive as they are, as Android's linker does, and calls the first
// function of each: archive FILE {OFFSET ENTRY}.
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

typedef long (*callback)(long);

__attribute__((noinline)) long stop_here(long n)
{
	if (n == 6) /* called by the second library */
		abort();
	return n;
}

int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDONLY);
	long r = 0;
	char *place = (char *)0x20000000;
	for (int a = 2; a + 1 < argc; a += 2) {
		long offset = strtol(argv[a], 0, 0);
		char *head = mmap(0, 4096, PROT_READ, MAP_PRIVATE, fd, offset);
		Elf64_Ehdr *h = (void *)head;
		Elf64_Phdr *p = (void *)(head + h->e_phoff);
		char *next = place;
		for (int i = 0; i < h->e_phnum; i++) {
			if (p[i].p_type != PT_LOAD)
				continue;
			long skip = p[i].p_vaddr & 4095;
			long size = (p[i].p_filesz + skip + 4095) & ~4095L;
			if (mmap(place + p[i].p_vaddr - skip, size, PROT_READ | (p[i].p_flags & PF_X ? PROT_EXEC : 0) | (p[i].p_flags & PF_W ? PROT_WRITE : 0),
				 MAP_PRIVATE | MAP_FIXED, fd, offset + p[i].p_offset - skip) == MAP_FAILED)
				return 2;
			next = place + p[i].p_vaddr - skip + size;
		}
		long (*f)(callback, long) = (void *)(place + strtol(argv[a + 1], 0, 0));
		munmap(head, 4096);
		r += f(stop_here, a);
		place = next;
	}
	return r == 42;
}
