// Functions with every kind of frame that SFrame describes, calls through the PLT, callbacks from libc, and
// a signal. It prints a number, which keeps the calls alive.
#include <alloca.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int sum;

__attribute__((noinline)) int leaf(int x) { return x * 3 + sum; }

__attribute__((noinline)) int saves(int a, int b, int c, int d) {
	int s = leaf(a) + leaf(b);
	s += leaf(c) * a + leaf(d) * b;
	return s + leaf(s) + a * b * c * d;
}

__attribute__((noinline)) int moves(int n) {
	char *q = alloca(n + 16);
	memset(q, 1, n);
	for (int i = 0; i < n; i++)
		sum += q[i];
	return saves(n, sum, 3, 4);
}

__attribute__((noinline)) int realigned(int n) {
	_Alignas(64) char buf[128];
	memset(buf, n, sizeof buf);
	return moves(buf[n & 127] + 8) + (int)((unsigned long)buf & 63);
}

__attribute__((noinline)) int deep(int n) {
	if (n == 0)
		return realigned(5);
	int a[4] = {n, n + 1, n + 2, n + 3};
	return deep(n - 1) + a[n & 3];
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static void handler(int sig) { sum += deep(3) + sig; }

int main(void) {
	int list[] = {5, 3, 8, 1, 9, 2, 7};
	qsort(list, 7, sizeof list[0], compare);
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	char text[32];
	snprintf(text, sizeof text, "%d", deep(4) + list[0]);
	puts(text);
	return 0;
}
