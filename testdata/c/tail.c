// Tail calls: functions that are gone from the stack when the innermost one runs. Compiled with -O2.
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))

volatile int sink;

NOINLINE int stop(int a, int b) {
	sink = a + b;
	__asm__ volatile("" ::: "memory");
	return a - b;
}

// One way: only -> middle -> last -> stop.
NOINLINE int last(int a, int b) {
	sink++;
	return stop(a + 1, b);
}
NOINLINE int middle(int a) {
	sink++;
	return last(a, 20);
}
NOINLINE int only(int a, int gone) {
	sink += gone;
	return middle(a * 2);
}

// Two ways lead to stop: nobody knows which.
NOINLINE int left(int a) {
	sink++;
	return stop(a, 1);
}
NOINLINE int right(int a) {
	sink--;
	return stop(a, 2);
}
NOINLINE int either(int a) {
	sink++;
	if (a & 1)
		return left(a);
	return right(a);
}

// Around more than once.
NOINLINE int pong(int n);
NOINLINE int ping(int n) {
	sink++;
	if (n == 0)
		return stop(n, 3);
	return pong(n - 1);
}
NOINLINE int pong(int n) {
	sink--;
	return ping(n);
}

// Where to, only a register knows.
NOINLINE int through(int (*f)(int, int), int a) {
	sink++;
	return f(a, 4);
}

// The caller calls through a register, and what it calls goes on to stop.
NOINLINE int viaRegister(int (*volatile *f)(int), int a) {
	int r = (*f)(a);
	sink += r;
	return r + 1;
}
static int (*volatile pointer)(int) = middle;

static int compare(const void *a, const void *b) { return stop(*(const int *)a, *(const int *)b); }

int main(int argc, char **argv) {
	int list[2] = {4, 3};
	int n = argc;
	n += only(n, 7);
	n += either(n);
	n += ping(2);
	n += through(stop, n);
	n += viaRegister(&pointer, 5);
	qsort(list, 2, sizeof list[0], compare); // qsort goes on to qsort_r in some C libraries
	n += stop(n, 5);
	return n == 12345;
}
