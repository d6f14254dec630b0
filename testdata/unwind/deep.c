/* A stack of as many frames as its argument says, on a thread of its own; then it says "ready" and waits. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int sink;
static int depth;

__attribute__((noinline)) int deep(int n) {
	volatile int pad = n;
	if (n == 0) {
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
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)256 << 20);
	pthread_create(&t, &attr, run, 0);
	pthread_join(t, 0);
	return 0;
}
