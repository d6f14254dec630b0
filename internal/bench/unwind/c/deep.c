/* A stack of as many frames as its argument says, on a thread of its own; then it waits. With "self" it
 * measures the unwinders of this process on a stack of that depth. */
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

static volatile int sink;
static int depth, self;

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static _Unwind_Reason_Code count(struct _Unwind_Context *c, void *p) {
	++*(int *)p;
	return _Unwind_GetIP(c) ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static void *pcs[200000];

static void measure(void) {
	int rounds = 20000000 / (depth + 10) / 10 + 1, n = 0;
	unw_flush_cache(unw_local_addr_space, 0, 0);
	double a = now();
	n = unw_backtrace(pcs, 200000);
	printf("libunwind unw_backtrace, first\t%.1f\n", (now() - a) / n);
	a = now();
	for (int i = 0; i < rounds; i++)
		n = unw_backtrace(pcs, 200000);
	printf("libunwind unw_backtrace, warm\t%.1f\n", (now() - a) / n / rounds);
	n = 0;
	a = now();
	for (int i = 0; i < rounds; i++)
		_Unwind_Backtrace(count, &n);
	printf("libgcc _Unwind_Backtrace, warm\t%.1f\n", (now() - a) / n);
}

__attribute__((noinline)) int deep(int n) {
	volatile int pad = n;
	if (n == 0) {
		if (self) {
			measure();
			exit(0);
		}
		if (write(1, "ready\n", 6) == 6)
			pause();
		return 0;
	}
	return deep(n - 1) + pad;
}

static void *run(void *p) {
	sink = deep(depth);
	return p;
}

int main(int argc, char **argv) {
	pthread_attr_t attr;
	pthread_t t;
	depth = argc > 1 ? atoi(argv[1]) : 100;
	self = argc > 2 && !strcmp(argv[2], "self");
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)256 << 20);
	pthread_create(&t, &attr, run, 0);
	pthread_join(t, 0);
	return 0;
}
