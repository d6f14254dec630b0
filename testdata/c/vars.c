// Variables of all kinds, for a comparison of two debuggers at random stops: what
// an optimiser takes apart, keeps in registers, passes to a call and forgets.
#include <complex.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
#ifndef __has_attribute
#define __has_attribute(x) 0
#endif

enum color { RED, GREEN = 5, BLUE };
enum flags { FA = 1, FB = 2, FC = 4, FD = 16 };

struct point {
	int x, y;
};
struct wide {
	long a, b, c, d;
};
struct mixed {
	char c;
	short s;
	float f;
	double d;
	struct point p;
	unsigned bits3 : 3;
	int bits7 : 7;
	unsigned long long bits40 : 40;
	_Bool yes : 1;
	enum color col;
	char name[8];
};
union both {
	int i;
	float f;
	unsigned char bytes[4];
};
struct list {
	struct list *next;
	int value;
};
struct flex {
	int n;
	int items[];
};
typedef int vec4 __attribute__((vector_size(16)));
typedef double (*binary)(double, double);

__thread int tls_counter = 7;
static __thread long tls_private;
volatile int sink;
volatile double fsink;
int global_int = 42;
static struct point global_points[3] = {{1, 2}, {3, 4}, {5, 6}};
long zero_length[0];

// Clobbers what a caller may not count on.
NOINLINE void churn(int n) {
	for (int i = 0; i < n; i++)
		sink += i * n;
	__asm__ volatile("" ::: "memory");
}

// Parameters that are gone after the first call: only their values at entry are left.
NOINLINE int entries(int a, int b, long c, struct point *p) {
	int sum = a + b;
	churn(2);
	sink = sum + (int)c;
	churn(3);
	p->x += sum;
	churn(1);
	return sum;
}

NOINLINE int unused_args(int gone, int stays, const char *text) {
	churn(2);
	sink = stays;
	churn(1);
	return text[0] + stays;
}

// A structure in pieces.
static inline struct point swap(struct point p) {
	struct point q = {p.y, p.x};
	return q;
}
NOINLINE int pieces(int a, int b) {
	struct point p = {a, b};
	struct point q = swap(p);
	churn(1);
	struct wide w = {a, b, (long)a * b, 9};
	sink = q.x;
	churn(2);
	w.c += q.y;
	sink = (int)w.c + (int)w.d;
	return q.x + p.y;
}
NOINLINE int by_value(struct point p, struct wide w, struct mixed m) {
	churn(p.x & 3);
	sink = (int)w.c + m.s;
	churn(1);
	return p.y + (int)w.a + m.bits7;
}

static inline int through(const int *p, int n) {
	int t = *p + n;
	sink = t;
	return t;
}
// A pointer to something that has no address once all is inlined.
NOINLINE int implicit(int n) {
	int local = n * 3;
	const int *where = &local;
	int r = through(where, n);
	sink = r;
	churn(1);
	r += through(where, r);
	return r;
}

NOINLINE double floats(float f, double d, long double ld, int n) {
	double s = 0;
	float last = f;
	for (int i = 0; i < n; i++) {
		double t = d * i + last;
		s += t / (1 + i);
		last = (float)t;
		fsink = s;
	}
	churn(1);
	ld += s;
	fsink = (double)ld;
	double complex z = s + I * d;
	float complex zf = f;
	fsink = creal(z) + crealf(zf);
	return s + (double)ld;
}

NOINLINE int vla(int n, int m) {
	int a[n];
	char rows[m][n + 1];
	for (int i = 0; i < n; i++)
		a[i] = i * i;
	for (int i = 0; i < m; i++)
		for (int j = 0; j <= n; j++)
			rows[i][j] = 'a' + i + j;
	churn(1);
	sink = a[n / 2] + rows[m - 1][n];
	return a[n - 1];
}

NOINLINE int arrays(int k) {
	int one[5] = {1, 2, 3, k, 5};
	short two[2][3] = {{1, 2, 3}, {4, 5, (short)k}};
	char three[2][2][2] = {{{'a', 'b'}, {'c', 0}}, {{1, 2}, {3, 4}}};
	struct point pts[2] = {{k, 1}, {2, k}};
	int zeros[300] = {0};
	zeros[k & 255] = k;
	churn(1);
	sink = one[k % 5] + two[1][k % 3] + three[1][k % 2][0] + pts[k % 2].x + zeros[7];
	return sink;
}

NOINLINE int enums(enum color c, enum flags f, union both u) {
	enum color next = c == RED ? GREEN : (enum color)9;
	enum flags all = f | FD;
	enum flags odd = (enum flags)(f | 8);
	_Bool big = c > 3;
	churn(1);
	sink = next + all + odd + big + u.i;
	u.f += 1;
	sink = u.bytes[3];
	return sink;
}

NOINLINE int wides(unsigned __int128 big, __int128 neg, vec4 v) {
	unsigned __int128 twice = big * 2;
	vec4 w = v + v;
	churn(1);
	sink = (int)(twice >> 64) + w[1] + (int)neg;
	return w[0];
}

NOINLINE int lists(struct list *head) {
	int n = 0, total = 0;
	for (struct list *l = head, *prev = NULL; l; prev = l, l = l->next) {
		n++;
		total += l->value;
		if (prev)
			sink = prev->value;
	}
	churn(n);
	return total;
}

NOINLINE int recursive(int depth, long acc) {
	long here = acc * 3 + depth;
	int left = depth - 1;
	if (depth == 0) {
		churn(1);
		return (int)here;
	}
	int r = recursive(left, here);
	sink = r + left;
	return r + (int)(here & 7);
}

NOINLINE long many(int a, int b, int c, int d, int e, int f, int g, int h, long i, short j) {
	long t1 = a * b, t2 = c * d, t3 = e * f, t4 = g * h;
	churn(1);
	long t5 = t1 ^ t2, t6 = t3 ^ t4, t7 = i - j;
	sink = (int)t5;
	churn(2);
	return t1 + t2 + t3 + t4 + t5 + t6 + t7 + i + j;
}

NOINLINE double apply(binary f, double x, double y) {
	double r = f(x, y);
	fsink = r;
	return r * 2;
}
static double add(double x, double y) { return x + y; }
static double mul(double x, double y) { churn(1); return x * y; }

NOINLINE int blocks(int n) {
	int r = 0;
	for (int i = 0; i < n; i++) {
		int twice = i * 2;
		{
			int i = twice + 1; // hides the loop's
			static int calls = 0;
			calls++;
			sink = i + calls;
			r += i;
		}
		if (twice > 2) {
			const char *text = "a text";
			char first = text[i % 6];
			sink = first;
			r += first;
		}
	}
	return r;
}

NOINLINE int threads_own(int n) {
	tls_counter += n;
	tls_private = tls_counter;
	errno = n;
	churn(1);
	return tls_counter;
}

NOINLINE int flexible(int n) {
	struct flex *f = malloc(sizeof *f + n * sizeof(int));
	f->n = n;
	for (int i = 0; i < n; i++)
		f->items[i] = i;
	churn(1);
	int last = f->items[n - 1];
	free(f);
	return last;
}

static int cmp(const void *a, const void *b) {
	const struct point *p = a, *q = b;
	int d = p->x - q->x;
	return d ? d : p->y - q->y;
}

NOINLINE unsigned hash(const char *s, size_t n) {
	unsigned h = 2166136261u;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = s[i];
		h = (h ^ c) * 16777619u;
	}
	return h;
}

int main(int argc, char **argv) {
	struct point p = {argc, 2};
	struct wide w = {1, 2, 3, 4};
	struct mixed m = {'x', -3, 1.5f, 2.25, {7, 8}, 5, -6, 0x123456789aULL, 1, BLUE, "name"};
	union both u = {.i = 0x3f800000};
	struct list c = {NULL, 30}, b = {&c, 20}, a = {&b, 10};
	vec4 v = {1, 2, 3, argc};
	int total = 0;
	for (int round = 0; round < 3; round++) {
		total += entries(round, 5, 100L * round, &p);
		total += unused_args(round, argc, "hello");
		total += pieces(argc + 1, round + 2);
		total += by_value(p, w, m);
		total += implicit(round);
		total += (int)floats(1.5f, 0.25 * round, 3.0L, 4);
		total += vla(4 + round, 3);
		total += arrays(round + 3);
		total += enums(round ? BLUE : RED, FA | FC, u);
		total += wides((unsigned __int128)argc << 70 | 5, -round, v);
		total += lists(&a);
		total += recursive(4, round);
		total += (int)many(1, 2, 3, 4, 5, 6, 7, round, 9, 10);
		total += (int)apply(round & 1 ? add : mul, 3, round);
		total += blocks(4);
		total += threads_own(round);
		total += flexible(5);
		qsort(global_points, 3, sizeof global_points[0], cmp);
		total += (int)hash("some text to hash", 17);
		m.bits3++;
	}
	printf("%d\n", total != 12345);
	return 0;
}
