// The program that the debuggers of this benchmark control. It counts for itself, in a file that the benchmark maps.
//
//     target MODE COUNTERS [THREADS]
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile long *c;
volatile long sink;

__attribute__((noinline)) long place(long n) {
	__atomic_add_fetch(&c[0], 1, __ATOMIC_RELAXED);
	return n + 1;
}

static void *hits(void *arg) {
	for (long n = 0;; n++) place(n);
	return arg;
}

static void *idle(void *arg) {
	for (;;) pause();
	return arg;
}

static void start(int n, void *(*f)(void *)) {
	pthread_attr_t a;
	pthread_t t;
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 64 << 10);
	while (n-- > 0) pthread_create(&t, &a, f, 0);
}

__attribute__((noinline)) long loops(long n) {
	long i, sum = 0;
	for (i = 0; i < 400; i++) sum += i ^ n;
	sink = sum;
	return sum;
}

__attribute__((noinline)) long lines(long n) {
	for (;;) {
		sink = n;
		n += 3;
		sink += n;
		n ^= 5;
		sink -= n;
		n += 2;
		sink ^= n;
	}
	return n;
}

int main(int argc, char **argv) {
	const char *mode = argv[1];
	int threads = argc > 3 ? atoi(argv[3]) : 0;
	c = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, open(argv[2], O_RDWR), 0);
	if (!strcmp(mode, "hits")) hits(0);
	if (!strcmp(mode, "idle")) { start(threads, idle); hits(0); }
	if (!strcmp(mode, "busy")) { start(threads - 1, hits); hits(0); }
	if (!strcmp(mode, "steps")) lines(loops(0));
	if (!strcmp(mode, "wait")) { start(threads, idle); c[1] = 1; pause(); }
	if (!strcmp(mode, "libraries")) {
		char path[4096];
		for (int i = 0; i < threads; i++) {
			snprintf(path, sizeof path, "%s/lib%d.so", argv[4], i);
			if (!dlopen(path, RTLD_NOW)) return 3;
		}
		c[1] = 1;
		pause();
	}
	return 0;
}
