// Names of all kinds, to be found through tables. With -DSECOND the other unit.
#include "named.h"
#ifdef SECOND
enum OnlyHere { OA, OB };
struct Second { OnlyHere e; n::Box<long, 4> box; S::In in; unsigned long length; } second_global;
static int stat_used;
static const int second_const = 3;
namespace n { int in_second = 4; }
static inline int second_inline(int a) { return a + external_inline(a); }
int second(int a) { n::Box<char, 2> b{}; return second_inline(a) + n::instance((short)a) + b.first() + second_const + stat_used++ + hidden.a + hidden_static + (int)second_global.box.first() + n::versioned(a); }
#else
enum TopE { TA, TB };
static const int top_const = 11;
int glob;
static int stat_used;
thread_local int tls;
int S::counter = 3;
union Un { int i; float f; };
Un un;
n::Box<int, 3> box;
int second(int);
template <typename T> __attribute__((noinline)) T user(T a) {
	static int local_static;
	local_static++;
	struct Loc { int z; int get() { return z; } } l{(int)a};
	S::Nest ne{1, {2}};
	S::tdef td = 3;
	stat_used += a;
	Pointer<T> p = &a;
	return n::only_inlined(a) + n::instance(a) + n::instance((long)a) + S::tpl(a) + S::konst + S::cexp + l.get() + ne.n + td + *p + (int)n::E2::X2 + n::X3 + TA + top_const + n::nconst +
		n::nstat + hidden.a + hidden_static + S::Ia + box.first() + n::versioned(a) + S{a}.method(a) + n::Box<int, 3>::Room;
}
int operator+(Un a, int b) { return a.i + b; }
int operator<(Un a, Un b) { return a.i < b.i; }
struct Conv { operator int() { return 3; } operator unsigned long() { return 4; } long long big; unsigned short tiny; };
int conv(Conv &c) { return (int)c + (int)(unsigned long)c; }
extern "C" int main(int c, char **) {
	Conv cv{};
	Alias e = (Alias)c;
	auto lambda = [c](int a) { return a + c; };
	return user(c) + glob + tls + conv(cv) + (int)e + (un + 1) + (un < un) + second(c) + lambda(2) + S::counter;
}
#endif
