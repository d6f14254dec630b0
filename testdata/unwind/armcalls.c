/* Functions whose frames need each kind of unwinding instruction that compilers for ARM make: a few words, large
   frames, frame pointers, realigned stacks, arguments saved for va_arg, VFP registers. It calls no library. */
#include <alloca.h>
#include <stdarg.h>
#define NOINLINE __attribute__((noinline, noclone))
static volatile int sink;
static volatile double real = 1.5;

NOINLINE int leaf(int a) { return a * 3 + sink; }
NOINLINE int saves(int a, int b, int c, int d, int e) {
	int x = leaf(a), y = leaf(b), z = leaf(c), w = leaf(d);
	return leaf(x + e) + leaf(y) + z + w + e;
}
NOINLINE int large(int n) {
	volatile int buf[700];
	buf[n] = leaf(n);
	return buf[n] + leaf(n);
}
NOINLINE int variable(int n) {
	volatile char *p = alloca(n);
	p[0] = leaf(n);
	p[n - 1] = leaf(n + 1);
	return p[0] + p[n - 1];
}
NOINLINE int aligned(int n) {
	__attribute__((aligned(64))) volatile int buf[16];
	buf[n & 15] = leaf(n);
	return buf[n & 15] + leaf(2);
}
NOINLINE int sum(int n, ...) {
	va_list ap;
	int s = 0;
	va_start(ap, n);
	while (n--) s += leaf(va_arg(ap, int));
	va_end(ap);
	return s;
}
NOINLINE double reals(double a, double b, int n) {
	double x = a * b, y = a + b, z = a - b;
	for (int i = 0; i < n; i++) x += y * leaf(i), y += z, z += real;
	return x + y + z;
}
NOINLINE int recursive(int n) { return n ? recursive(n - 1) + leaf(n) : leaf(7); }
NOINLINE int early(int n) { if (n < 3) return n; return saves(n, 1, 2, 3, 4) + leaf(n); }
NOINLINE int tail(int n) { sink = n & 1; return early(n + 1); }
typedef int (*function)(int);
static function volatile table[] = {leaf, large, aligned, early, tail, recursive};
NOINLINE int indirect(int n) { return table[n](n + 1) + leaf(n); }

int main(void) {
	int s = saves(1, 2, 3, 4, 5) + large(5) + variable(40) + aligned(3) + sum(5, 1, 2, 3, 4, 5) + (int)reals(2.5, 1.25, 2);
	for (int i = 0; i < 6; i++) s += indirect(i);
	return s == 1;
}
