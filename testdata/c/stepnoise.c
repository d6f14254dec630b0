// The main thread goes over the same lines again and again, while other threads call functions in which there are
// breakpoints.
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

static volatile long *c;

__attribute__((noinline)) long noise1(long n) { return n + 1; }
__attribute__((noinline)) long noise2(long n) { return n + 2; }
__attribute__((noinline)) long noise3(long n) { return n + 3; }

static void *noise(void *arg) {
	for (long n = 0;; n++) {
		noise1(n);
		if (n % 16 == 0) noise2(n);
		noise3(n);
		c[0]++;
	}
	return arg;
}

__attribute__((noinline)) long leaf(long n) { return n * 3; }

void begin(void) {}

int main(int argc, char **argv) {
	int fd = open(argv[1], O_RDWR);
	c = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (int i = atoi(argv[2]); i > 0; i--) {
		pthread_t t;
		pthread_create(&t, 0, noise, 0);
	}
	begin();
	long n = 1;
	for (;;) {
		n = leaf(n);
		n += 7;
		if (n > 1000000)
			n = 1;
		for (int i = 0; i < 3; i++)
			n += noise1(i);
		n = leaf(n) + leaf(n + 1);
	}
}
