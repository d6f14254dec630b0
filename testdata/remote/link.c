/* A chain of calls through many shared libraries, each of which calls the next one through a slot of its own. Built
 * with SELF and NEXT it is one of them. Without it is the program, which loads the libraries of its arguments, the
 * last one first, calls the first one, and crashes in the last call. */
#ifdef SELF
int NEXT(int);
__attribute__((noinline)) int SELF(int n) { volatile int pad = n; return NEXT(n + 1) + pad; }
#else
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) int last(int n) { volatile int *nowhere = 0; *nowhere = n; return n; }

int main(int argc, char **argv) {
	for (int i = argc - 1; i > 0; i--)
		if (!dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL)) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
	int (*first)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "step0");
	return first(0) + 1;
}
#endif
