// Five threads of which one dies, a private mapping of a file with one changed page, a shared one,
// memory that is not to be dumped, and known vector registers: what a core file must have.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

char *private_map, *shared_map, *anonymous, *excluded;
long big[100000];
static pthread_barrier_t here;
static int pipes[2];

static void *reads(void *p) {
	char c;
	pthread_barrier_wait(&here);
	return (void *)read(pipes[0], &c, 1);
}

static void *pauses(void *p) {
	pthread_barrier_wait(&here);
	pause();
	return p;
}

static long vectors[4] = {0x1111111111111111, 0x2222222222222222, 0x3333333333333333, 0x4444444444444444};

__attribute__((noinline)) static void dies(int depth) {
	if (depth > 0) {
		dies(depth - 1);
		__asm__ volatile("");
		return;
	}
	pthread_barrier_wait(&here);
	if (__builtin_cpu_supports("avx"))
		__asm__ volatile("vmovdqu %0, %%ymm5\n\tmovq $0x1234, %%rax\n\tmovl $1, (0x28)" : : "m"(vectors) : "rax", "memory");
	else
		__asm__ volatile("movdqu %0, %%xmm5\n\tmovq $0x1234, %%rax\n\tmovl $1, (0x28)" : : "m"(vectors) : "rax", "memory");
}

static void *worker(void *p) {
	dies(3);
	return p;
}

int main(int argc, char **argv) {
	char page[4096];
	int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	memset(page, 'f', sizeof page);
	for (int i = 0; i < 4; i++)
		if (write(fd, page, sizeof page) != sizeof page)
			return 1;
	private_map = mmap(0, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	shared_map = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096);
	anonymous = mmap(0, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	excluded = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(excluded, 4096, MADV_DONTDUMP);
	strcpy(private_map + 4096, "changed");
	strcpy(anonymous + (17 << 20), "an island");
	strcpy(excluded, "secret");
	if (pipe(pipes) < 0)
		return 1;
	pthread_barrier_init(&here, 0, 5);
	pthread_t t[4];
	void *(*run[4])(void *) = {reads, pauses, pauses, worker};
	for (int i = 0; i < 4; i++) {
		pthread_create(&t[i], 0, run[i], 0);
	}
	pthread_barrier_wait(&here);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	return 0;
}
