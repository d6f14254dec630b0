// A program that knows its own values, at all levels of optimisation; see known.h. It is C and C++.
#include "known.h"

struct point {
	int x, y;
};
struct wide {
	long a, b, c, d;
};
struct bits {
	unsigned u3 : 3;
	int s7 : 7;
	unsigned long long u40 : 40;
	short s;
};
volatile int sink;
volatile double fsink;
static int file_static = 3;

NOINLINE void churn(int n) {
	for (int i = 0; i < n; i++)
		sink = sink + i;
}

NOINLINE int params(int a, short b, unsigned char c, unsigned d, long e, unsigned long long f, signed char g, int h, short i, long j) {
	BEGIN;
	I(a), I(b), I(c), I(d), I(e), I(f), I(g), I(h), I(i), I(j);
	stop_here();
	END;
	churn(a & 3);
	I(c), I(i);
	stop_here();
	END;
	return (int)(e + j);
}

NOINLINE int gone(int a, int b) {
	int sum = a + b, product = a * b;
	BEGIN;
	I(a), I(b), I(sum), I(product);
	stop_here();
	sink = sum;
	stop_here();
	END;
	return 1;
}

static inline struct point swap(struct point p) {
	struct point q = {p.y, p.x};
	BEGIN;
	I(p.x), I(p.y), I(q.x), I(q.y);
	stop_here();
	END;
	return q;
}

NOINLINE int pieces(int a, int b) {
	struct point p = {a, b};
	BEGIN;
	I(p.x), I(p.y);
	struct point q = swap(p);
	I(q.x), I(q.y), I(a), I(b);
	stop_here();
	END;
	struct wide w = {a, b, (long)a * b, 9};
	I(w.a), I(w.b), I(w.c), I(w.d);
	stop_here();
	END;
	w.c += q.y;
	I(w.c), I(q.y);
	stop_here();
	END;
	return (int)w.c;
}

static inline int through(const int *where, int n) {
	int t = *where + n;
	BEGIN;
	I(*where), I(n), I(t);
	stop_here();
	END;
	sink = t;
	return t;
}
NOINLINE int implicit(int n) {
	int local = n * 3;
	BEGIN;
	I(local), I(n);
	int r = through(&local, n);
	END;
	r += through(&local, r);
	return r;
}

NOINLINE double floats(float f, double d, int n) {
	double s = 0;
	float last = f;
	for (int i = 0; i < n; i++) {
		double t = d * i + last;
		s += t / (1 + i);
		last = (float)t;
		BEGIN;
		F(f), F(d), F(s), F(t), F(last), I(i), I(n);
		stop_here();
		END;
	}
	fsink = s;
	BEGIN;
	F(s), F(last), F(d);
	stop_here();
	END;
	return s;
}

// gcc says of a sum that it does not keep how to compute it: in the extended format. (Where it keeps it gcc 12 at -O2 says that it is
// in the argument's place, which still has the old value: hence no further use.)
NOINLINE double extended(long double ld, double d, int n) {
	{
		BEGIN;
		F(ld), F(d), I(n);
		stop_here();
		END;
	}
	double s = d * n + 1;
	ld += s;
	fsink = (double)ld;
	{
		BEGIN;
		F(ld), F(s), F(d);
		stop_here();
		END;
	}
	return s;
}

NOINLINE int arrays(int k, int n) {
	int one[5] = {1, 2, 3, k, 5};
	short two[2][3] = {{1, 2, 3}, {4, 5, (short)k}};
	struct point pts[2] = {{k, 1}, {2, k}};
	struct bits b;
	b.u3 = k, b.s7 = -k, b.u40 = 0x123456789aULL + k, b.s = -3;
	long long total = 0;
	BEGIN;
	for (int i = 0; i < n; i++) {
		total += one[i % 5] * i + two[i & 1][i % 3];
		I(i), I(total), I(one[3]), I(one[0]), I(two[1][2]), I(pts[1].y), I(b.u3), I(b.s7), I(b.u40), I(b.s);
		stop_here();
		END;
	}
	I(total), I(k);
	stop_here();
	END;
	return (int)total;
}

NOINLINE int recursive(int depth, long acc) {
	long here = acc * 3 + depth;
	int left = depth - 1;
	BEGIN;
	I(depth), I(acc), I(here), I(left);
	if (depth == 0) {
		stop_here();
		END;
		return (int)here;
	}
	int r = recursive(left, here);
	I(r);
	stop_here();
	END;
	return r + (int)(here & 7);
}

NOINLINE int blocks(int n) {
	int r = 0;
	BEGIN;
	for (int i = 0; i < n; i++) {
		int twice = i * 2;
		{
			static int calls = 10;
			int inner = twice + 1;
			calls++;
			r += inner;
			I(i), I(twice), I(inner), I(calls), I(r), I(file_static);
			stop_here();
			END;
		}
		file_static += twice;
	}
	return r;
}

NOINLINE int pointers(const char *text, int *where, struct wide *w) {
	const char *p = text;
	int n = 0;
	BEGIN;
	while (*p) {
		n += *p++;
		I(p), I(text), I(where), I(*where), I(n), I(w->b), I(*p);
		stop_here();
		END;
		*where += 1;
		w->b -= n;
	}
	return n;
}

NOINLINE int last_call(int a, int b) {
	int c = a - b;
	BEGIN;
	I(a), I(b), I(c);
	stop_here();
	END;
	return c;
}
NOINLINE int tail(int a, int b) {
	sink = a;
	return last_call(a + 1, b * 2);
}

#ifdef __cplusplus
struct base {
	int v;
	base(int v) : v(v) {}
	virtual ~base() {}
	virtual int act(int by) {
		int r = v + by;
		BEGIN;
		I(v), I(by), I(r), I(this);
		stop_here();
		END;
		return r;
	}
};
struct derived : virtual base {
	long w;
	derived(int v, long w) : base(v), w(w) {}
	int act(int by) override {
		int r = v * by;
		BEGIN;
		I(v), I(w), I(by), I(r), I(this->v);
		stop_here();
		END;
		return r;
	}
};
NOINLINE int references(int &a, const long &b, base &o) {
	int &again = a;
	BEGIN;
	I(a), I(b), I(again), I(o.v);
	stop_here();
	END;
	again += 5;
	I(a), I(again);
	stop_here();
	END;
	return o.act(a);
}
NOINLINE int captures(int n) {
	int by = n * 2;
	auto f = [&](int x) {
		int r = by + x;
		know("operator()", "r", r, 0, 0), know("operator()", "x", x, 0, 0);
		stop_here();
		return r;
	};
	BEGIN;
	I(by), I(n);
	int r = f(n + 1);
	END;
	return r;
}
NOINLINE int thrown(int n) {
	int kept = n * 7;
	BEGIN;
	try {
		if (n & 1)
			throw n;
		I(kept);
		stop_here();
	} catch (int e) {
		END;
		I(kept), I(e), I(n);
		stop_here();
	}
	END;
	return kept;
}
#endif

int main(int argc, char **argv) {
	(void)argv;
	int n = argc, total = 0;
	struct wide w = {1, 2, 3, 4};
	BEGIN;
	for (int round = 0; round < 2; round++) {
		I(n), I(round), I(total);
		total += params(-1, -2, 250, 4000000000u, -5, 1ull << 63, -7, round, -9, 1l << 40);
		END;
		total += gone(round, n + 3);
		total += pieces(n + 1, round + 5);
		total += implicit(round + 2);
		total += (int)floats(1.5f, 0.25 * round, 3);
		total += (int)extended(2.5L * round, 0.25 * round, 3);
		total += arrays(round + 3, 3);
		total += recursive(3, round);
		total += blocks(3);
		total += pointers("abc", &n, &w);
		total += tail(round, n);
#ifdef __cplusplus
		long l = total;
		derived d(round + 4, 9);
		base o(8);
		total += references(n, l, round ? (base &)d : o);
		total += captures(round);
		total += thrown(round);
#endif
		I(w.a), I(w.b), I(total);
		stop_here();
		END;
	}
	return 0;
}
