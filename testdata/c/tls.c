// Thread-local variables of a program and of two libraries, one of which it loads itself. With -DLIBRARY=NAME this is a library.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NAME2(a, b) a##_##b
#define NAME1(a, b) NAME2(a, b)
#ifdef LIBRARY
#define NAME(x) NAME1(LIBRARY, x)
static __thread char NAME(pad)[100];
__thread long NAME(value) = 5;
static __thread int NAME(zero);
long NAME(touch)(long n) {
	NAME(pad)[n & 63] = 1;
	NAME(value) += n;
	NAME(zero) -= n;
	return NAME(value) + NAME(zero);
}
#else
__thread int own = 1;
static volatile __thread long own_array[3] = {1, 2, 3};
extern long one_touch(long n);
static pthread_barrier_t ready;
static long (*two_touch)(long);

static void *thread(void *arg) {
	long n = (long)arg;
	own = (int)n * 10;
	own_array[1] = n;
	one_touch(n);
	if (n > 1) // the first has no block of the second library
		two_touch(n);
	pthread_barrier_wait(&ready);
	if (n == 2)
		abort();
	for (;;)
		pause();
}

int main(int argc, char **argv) {
	void *lib = dlopen(argv[1], RTLD_NOW);
	if (!lib) {
		puts(dlerror());
		return 1;
	}
	two_touch = (long (*)(long))dlsym(lib, "two_touch");
	pthread_t t[2];
	pthread_barrier_init(&ready, NULL, 3);
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, thread, (void *)(i + 1));
	two_touch(30);
	one_touch(40);
	own = 50;
	pthread_barrier_wait(&ready);
	for (;;)
		pause();
}
#endif
