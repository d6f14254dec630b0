/* Functions of many kinds, for machines that an emulator runs: recursion, large and variable frames, variadic functions,
   callbacks, switches, floating point, leaves, tail calls. It prints a sum. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NOINLINE __attribute__((noinline))
static volatile int sink;
NOINLINE static int leaf(int a, int b) { return a * 7 + b; }
NOINLINE static int recursive(int n) { volatile char pad[24]; pad[0] = n; return n ? recursive(n - 1) + pad[0] : leaf(n, 1); }
NOINLINE static long many(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j) {
	return leaf(a + j, b) + c * d - e + f * g - h + i;
}
NOINLINE static int large(int n) { volatile char buf[9000]; memset((char *)buf, n, sizeof buf); return buf[n] + leaf(n, n); }
NOINLINE static int variable(int n) { volatile char a[n]; memset((char *)a, 3, n); return a[n / 2] + recursive(2); }
NOINLINE static int sum(int n, ...) {
	va_list ap; int s = 0;
	va_start(ap, n);
	while (n--) s += va_arg(ap, int);
	va_end(ap);
	return leaf(s, n);
}
NOINLINE static double floats(double a, double b, int n) {
	double s = 0;
	for (int i = 0; i < n; i++) s += a * b + recursive(1) * 0.5, a += 0.25;
	return s;
}
NOINLINE static int table(int n) {
	switch (n) {
	case 0: return leaf(1, 2);
	case 1: return recursive(1);
	case 2: return sink + 3;
	case 3: return leaf(sink, 9) + 1;
	case 4: return 17;
	case 5: return large(3);
	default: return -1;
	}
}
NOINLINE static int early(int n) { if (n < 3) return n; sink += recursive(n & 3); return leaf(sink, n) + leaf(n, sink); }
NOINLINE static int tail(int n) { sink = n; return recursive(n & 3); }
static int cmp(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void) {
	int v[12], s = 0;
	char text[100];
	for (int i = 0; i < 12; i++) v[i] = (i * 7) % 12;
	qsort(v, 12, sizeof *v, cmp);
	s += recursive(6) + many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10) + large(9) + variable(33) + variable(200) + sum(4, 1, 2, 3, 4);
	s += (int)floats(1.5, 2.5, 3);
	for (int i = 0; i < 8; i++) s += table(i) + early(i) + tail(i);
	snprintf(text, sizeof text, "%d %s %.2f %lx", s, "x", 1.25, 123456L);
	s += strlen(text) + v[3];
	printf("%d\n", s);
	return 0;
}
