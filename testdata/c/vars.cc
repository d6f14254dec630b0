// C++ variables of all kinds, for a comparison of two debuggers at random stops.
#include <cstddef>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#define NOINLINE __attribute__((noinline))

volatile int sink;
NOINLINE void churn(int n) {
	for (int i = 0; i < n; i++)
		sink = sink + i * n;
	__asm__ volatile("" ::: "memory");
}

namespace ns {
enum class Color : unsigned char { Red, Green = 7 };
enum Flags { F1 = 1, F2 = 2, F4 = 4 };
struct Inner {
	int a;
	static int shared;
	static const int fixed = 12;
};
int Inner::shared = 5;
template <class T> struct Box {
	T value;
	T twice() const { return value + value; }
	NOINLINE T noisy(T other) const {
		T r = value + other;
		churn(1);
		return r;
	}
};
} // namespace ns

struct A {
	int a = 1;
	virtual ~A() {}
	virtual int f(int x) { churn(1); return x + a; }
};
struct B : virtual A {
	int b = 2;
	int f(int x) override { churn(2); return x * b + a; }
};
struct C : virtual A {
	int c = 3;
};
struct D : B, C {
	int d = 4;
	int f(int x) override { return x + d + b + c + a; }
	int plain(int x) const { return x - d; }
};
struct E {
	long e = 10;
};
struct G : E, ns::Inner {
	bool yes = true;
	char16_t u16 = u'x';
	char32_t u32 = U'y';
	wchar_t w = L'z';
	ns::Color col = ns::Color::Green;
	std::nullptr_t np = nullptr;
	int bits : 5;
	unsigned more : 9;
	G() : bits(-3), more(300) { a = 77; }
};

NOINLINE int refs(int &lv, const G &g, int &&rv, D &d) {
	int &again = lv;
	again += rv;
	churn(1);
	lv += g.a + d.d;
	churn(2);
	return lv;
}

NOINLINE int members(int D::*data, int (D::*func)(int), int (D::*cfunc)(int) const, D &d) {
	int r = d.*data;
	r += (d.*func)(r);
	churn(1);
	r += (d.*cfunc)(2);
	return r;
}

NOINLINE int virtuals(A *a, B *b) {
	int r = a->f(3);
	churn(1);
	r += b->f(r);
	return r + b->a;
}

NOINLINE int lambdas(int n) {
	int base = n * 2;
	auto byref = [&](int x) { base += x; return base; };
	auto byval = [=](int x) { return base * x; };
	int r = byref(n);
	churn(1);
	r += byval(r);
	return r;
}

NOINLINE int objects(const std::string &s, std::vector<int> v, std::unique_ptr<G> g) {
	int total = 0;
	for (auto it = v.begin(); it != v.end(); ++it)
		total += *it;
	for (char ch : s)
		total += ch;
	churn(1);
	std::pair<int, double> pr{total, 0.5};
	total += pr.first + g->more;
	return total;
}

NOINLINE int throws(int n) {
	int kept = n * 7;
	try {
		int inside = kept + 1;
		if (n & 1)
			throw std::runtime_error("odd");
		sink = inside;
	} catch (const std::exception &e) {
		const char *what = e.what();
		sink = what[0];
		churn(1);
		return kept;
	}
	return kept + 1;
}

template <class T, int N> NOINLINE T tmpl(const T (&arr)[N], ns::Box<T> box) {
	T sum{};
	for (int i = 0; i < N; i++)
		sum += arr[i];
	sum += box.twice();
	churn(1);
	return sum + box.noisy(sum);
}

class Shape {
	int w, h;

public:
	Shape(int w, int h) : w(w), h(h) { churn(1); }
	int area() const { int r = w * h; sink = r; return r; }
	Shape scaled(int k) const { Shape s(w * k, h * k); churn(1); return s; }
};

int main(int argc, char **) {
	D d;
	B b;
	G g;
	int n = argc;
	int total = 0;
	const int arr[3] = {1, 2, argc};
	const double darr[2] = {0.5, 1.5};
	for (int round = 0; round < 3; round++) {
		total += refs(n, g, round + 1, d);
		total += members(&D::d, &D::f, &D::plain, d);
		total += members(&D::d, &D::f, &D::plain, d);
		total += virtuals(round & 1 ? (A *)&d : (A *)&b, &d);
		total += lambdas(round + 1);
		total += objects("text", {1, 2, round}, std::make_unique<G>());
		total += throws(round);
		total += tmpl(arr, ns::Box<int>{round});
		total += (int)tmpl(darr, ns::Box<double>{0.25});
		Shape s(round, 4);
		total += s.scaled(2).area();
		ns::Flags fl = ns::Flags(round + 1);
		ns::Color c = round ? ns::Color::Green : ns::Color(3);
		sink = fl + int(c);
		d.d++;
	}
	printf("%d\n", total != 12345);
	return 0;
}
