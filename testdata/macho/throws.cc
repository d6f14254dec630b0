// Exceptions, destructors, templates and virtual calls. _run does the same work in every build and returns a sum that is the
// same in all of them; it needs a process with a C++ runtime. No headers: there is no SDK.
using u64 = unsigned long;
using size_t = decltype(sizeof 0);

extern "C" {
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
void exit(int) __attribute__((noreturn));
}
inline void *operator new(size_t, void *at) noexcept { return at; }

#define apart __attribute__((noinline))

static u64 h;
apart static void mix(u64 x) {
	h = (h ^ x) * 0x100000001b3ul;
	h ^= h >> 29;
}

// Objects whose destructors leave a mark.
struct Mark {
	u64 id;
	apart explicit Mark(u64 id) : id(id) { mix(id); }
	apart ~Mark() { mix(id * 3); }
};

// What is thrown: an int, a pointer, a class, one derived from two others.
struct Error {
	u64 code;
	explicit Error(u64 code) : code(code) {}
	Error(const Error &o) : code(o.code + 1) { mix(2); }
	virtual ~Error() { mix(code); }
	virtual u64 weight() const { return code; }
};
struct Second {
	u64 other = 5;
	virtual ~Second() {}
	virtual u64 second() const { return other; }
};
struct Derived : Error, Second {
	explicit Derived(u64 code) : Error(code * 2) {}
	u64 weight() const override { return code + 1; }
	u64 second() const override { return other + code; }
};

apart static u64 thrower(u64 n) {
	switch (n % 6) {
	case 1: throw int(n);
	case 2: throw Error(n);
	case 3: throw Derived(n);
	case 4: throw "text";
	case 5: throw u64(n) << 33;
	}
	return n;
}

// Frames between throw and catch: without clean-ups, with one, with many values in registers, large ones, recursion.
apart static u64 plain(u64 n) { return thrower(n) + 1; }
apart static u64 cleaned(u64 n) {
	Mark m(n);
	return plain(n) + 2;
}
apart static u64 busy(u64 n, const u64 *p) {
	u64 a = p[0], b = p[1], c = p[2], d = p[3], e = p[4], f = p[5], g = p[6];
	Mark m(a);
	for (u64 i = 0; i < n % 3 + 1; i++) a += b, b ^= c, c += d, d ^= e, e += f, f ^= g, g += cleaned(n + (i << 3) * 3 + a % 1);
	Mark o(b);
	g += plain(n);
	return a ^ b ^ c ^ d ^ e ^ f ^ g;
}
apart static u64 large(u64 n) {
	volatile u64 v[700];
	v[n % 700] = n;
	Mark m(v[n % 700]);
	u64 x = busy(n, (u64[]){n, 2, 3, 4, 5, 6, 7});
	return x + v[n % 700];
}
apart static u64 sized(u64 n) {
	u64 *p = (u64 *)__builtin_alloca((n % 5 + 1) * 64);
	for (u64 i = 0; i < 8; i++) p[i] = n + i;
	Mark m(p[3]);
	return busy(n, p) + p[7];
}
apart static u64 aligned(u64 n) {
	alignas(64) volatile u64 v[8] = {n, n, n};
	Mark m(v[1]);
	return cleaned(n) + ((u64)v & 63);
}
apart static u64 many(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 i, u64 k) {
	Mark m(a + b);
	return thrower(a) + c + d + e + f + g + i + k;
}
apart static u64 stackargs(u64 n) {
	Mark m(n);
	u64 x = many(n, 1, 2, 3, 4, 5, 6, 7, 8);
	return x + many(n, x, x, x, x, x, x, x, x);
}
apart static u64 recursive(u64 depth, u64 n) {
	Mark m(depth);
	if (depth == 0) return large(n);
	return recursive(depth - 1, n) + 1;
}

apart static u64 caught(u64 (*f)(u64), u64 n) {
	try {
		return f(n);
	} catch (int x) {
		return x + 100;
	} catch (Second &s) {
		return s.second() + 150;
	} catch (const Error &e) {
		return e.weight() + 200;
	} catch (const char *s) {
		return s[1];
	} catch (...) {
		return 300;
	}
}

// Thrown again, changed on the way, thrown inside of a handler, and caught on the way by a destructor.
apart static u64 again(u64 n) {
	try {
		Mark m(n);
		return cleaned(n);
	} catch (Error &e) {
		e.code += 7;
		mix(e.code);
		throw;
	} catch (int x) {
		throw Error(x + 5);
	}
}
apart static u64 nested(u64 n) {
	try {
		return again(n);
	} catch (Error &e) {
		try {
			Mark m(e.code);
			thrower(n + 1);
		} catch (const Error &o) {
			return o.code * 3 + e.code;
		} catch (...) {
			return e.code + 17;
		}
		return e.code;
	}
}
struct Careful {
	u64 n;
	apart ~Careful() {
		try {
			thrower(n);
		} catch (...) {
			mix(n + 11);
		}
	}
};
apart static u64 careful(u64 n) {
	Careful c{n + 1};
	return plain(n);
}

// Constructors that fail: members and elements that are there already are destroyed.
struct Parts {
	Mark a, b;
	u64 c;
	apart explicit Parts(u64 n) : a(n), b(n + 1), c(thrower(n)) {}
};
struct Element {
	static u64 count;
	Mark m;
	Element() : m(count++) {
		if (count % 5 == 0) throw int(count);
	}
};
u64 Element::count;
apart static u64 parts(u64 n) {
	Parts p(n);
	return p.c;
}
apart static u64 elements(u64 n) {
	Element::count = n;
	Element *list = new Element[3];
	u64 sum = list[2].m.id;
	delete[] list;
	return sum;
}
apart static u64 made(u64 n) {
	Parts *p = new Parts(n);
	u64 c = p->c;
	delete p;
	return c;
}
struct Bodied {
	Mark m;
	explicit Bodied(u64 n) try : m(thrower(n)) {
	} catch (int x) {
		mix(x);
	}
};
apart static u64 bodied(u64 n) {
	Bodied b(n);
	return b.m.id;
}

// Through functions of the process: qsort's frames lie between throw and catch.
static u64 left;
apart static int compare(const void *a, const void *b) {
	if (left-- == 0) throw Error(*(const u64 *)a % 3);
	u64 x = *(const u64 *)a, y = *(const u64 *)b;
	return x < y ? -1 : x > y;
}
apart static u64 sorted(u64 n) {
	u64 v[12];
	for (u64 i = 0; i < 12; i++) v[i] = (i * 7 + n) % 13;
	Mark m(1);
	left = n * 9;
	try {
		qsort(v, 12, sizeof *v, compare);
	} catch (Error &) {
		return 77;
	}
	return v[3] * 100 + v[9];
}

// Templates, virtual calls with thunks, casts, member pointers, lambdas, a static that is made once.
template <typename T, unsigned N> struct Ring {
	T v[N];
	unsigned at = 0, count = 0;
	apart void push(T x) {
		if (count == N) throw Derived(N);
		v[(at + count++) % N] = x;
	}
	apart T pop() {
		if (count == 0) throw int(N);
		T x = v[at];
		at = (at + 1) % N, count--;
		return x;
	}
};
template <typename F> apart static u64 twice(F f, u64 n) { return f(n) + f(n + 1); }
template <unsigned N> struct Down {
	apart static u64 run(u64 n) {
		Mark m(N);
		return Down<N - 1>::run(n) + N;
	}
};
template <> struct Down<0> {
	static u64 run(u64 n) { return thrower(n); }
};
apart static u64 rings(u64 n) {
	Ring<u64, 4> a;
	Ring<int, 3> b;
	u64 sum = 0;
	for (u64 i = 0; i < n % 6; i++) a.push(i);
	for (u64 i = 0; i < n % 3; i++) b.push((int)(i * n));
	for (u64 i = 0; i < n % 4; i++) sum += a.pop() + b.pop();
	return sum;
}
struct Shape {
	virtual ~Shape() {}
	virtual u64 area() const = 0;
	u64 twice() const { return 2 * area(); }
};
struct Square : Shape {
	u64 a;
	explicit Square(u64 a) : a(a) {}
	u64 area() const override { return a * a; }
};
struct Named : Second, Shape {
	u64 n;
	explicit Named(u64 n) : n(n) {}
	u64 area() const override {
		Mark m(n);
		return thrower(n) + other;
	}
};
struct Virtual : virtual Shape {
	u64 area() const override { return 12; }
};
apart static u64 area(const Shape &s) { return s.area() + s.twice(); }
apart static u64 shapes(u64 n) {
	Square a(n);
	Named b(n);
	Virtual c;
	Shape *list[] = {&a, &c, &b};
	u64 sum = 0;
	for (Shape *s : list) {
		sum = sum * 5 + area(*s);
		if (auto *q = dynamic_cast<Square *>(s)) sum += q->a;
		if (dynamic_cast<Second *>(s)) sum += 9;
	}
	return sum;
}
apart static u64 members(u64 n) {
	u64 (Shape::*f)() const = n & 1 ? &Shape::area : &Shape::twice;
	Named b(n);
	return (b.*f)();
}
apart static u64 lambdas(u64 n) {
	Mark m(n);
	auto f = [&](u64 x) { return thrower(x) + m.id; };
	return twice(f, n) + twice([](u64 x) { return cleaned(x); }, n);
}
apart static u64 once(u64 n) {
	static Mark first(thrower(n | 1) + 1);
	return first.id;
}
static Mark before(4); // made before _run, destroyed by exit

// A throw behind the last thing that could be done: the call is the function's last instruction.
[[noreturn]] apart static void raise(u64 n) { throw Error(n); }
apart static u64 raised(u64 n) {
	Mark m(n);
	if (n % 3 == 0) raise(n);
	if (n % 3 == 1) {
		mix(1);
		raise(n + 1);
	}
	return n;
}
apart static u64 silent(u64 n) noexcept {
	try {
		return cleaned(n);
	} catch (...) {
		return 1;
	}
}

extern "C" u64 run(long n) {
	static u64 (*const list[])(u64) = {plain, cleaned, large, sized, aligned, stackargs, again, nested, careful, parts, elements, made, bodied,
		sorted, rings, shapes, members, lambdas, once, raised, silent, Down<9>::run};
	h = 14695981039346656037ul;
	for (u64 i = 0; i < (u64)n; i++)
		for (auto f : list) mix(caught(f, i));
	for (u64 i = 0; i < (u64)n; i++) {
		try {
			mix(recursive(i, i));
		} catch (...) {
			mix(i);
		}
	}
	return h;
}

extern "C" void finish(int status) { exit(status); }

#ifdef __aarch64__
// For arm64 clang writes an __eh_frame if a function needs one, and then one of all functions, of which the loader makes its tables. This one needs
// it: __unwind_info can't say that the return address is saved alone.
asm(".text\n.p2align 2\n_alone:\n.cfi_startproc\n"
	"str x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset w30, -16\n"
	"ldr x30, [sp], #16\n.cfi_def_cfa_offset 0\n.cfi_restore w30\nret\n.cfi_endproc\n");
#endif
