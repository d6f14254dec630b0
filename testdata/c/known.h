// A table in which a program writes down what its variables are, for a debugger that stops in stop_here:
// what it shows of them must be that, or that it does not know.
#ifdef __cplusplus
#define LINKAGE extern "C"
#else
#define LINKAGE
#endif
#define NOINLINE __attribute__((noinline))

struct known {
	const char *function, *name;
	long long value; // of a floating point number the bits of a double
	long long isFloat;
};
LINKAGE struct known known[256];
LINKAGE volatile long long known_count;
struct known known[256];
volatile long long known_count;

// Copies only: no address of a variable is taken, and nothing keeps it alive behind the call.
LINKAGE NOINLINE void know(const char *function, const char *name, long long value, double f, int isFloat) {
	struct known *k = &known[known_count];
	k->function = function;
	k->name = name;
	k->value = value;
	k->isFloat = isFloat;
	if (isFloat)
		__builtin_memcpy(&k->value, &f, sizeof f);
	known_count = known_count + 1;
}

#ifdef DIES // at the stop whose number is the first argument, to leave a core
#include <stdlib.h>
static int stops_left;
__attribute__((constructor)) static void count_stops(int argc, char **argv) { stops_left = argc > 1 ? atoi(argv[1]) : 0; }
LINKAGE NOINLINE void stop_here(void) {
	if (--stops_left == 0)
		__builtin_trap();
}
#else
LINKAGE NOINLINE void stop_here(void) { __asm__ volatile("" ::: "memory"); }
#endif

#define I(x) know(__func__, #x, (long long)(x), 0, 0)
#define F(x) know(__func__, #x, 0, (double)(x), 1)
// What follows is known until END: in this frame and in those that it calls.
#define BEGIN long long known_mark = known_count
#define END known_count = known_mark
