// The fixture of session/testdata/expr/cc.txt.
#include "expr.h"

enum class Level : unsigned char { Low = 1, Mid = 128, High = 255 };
Level level = Level::Mid;
enum Wide : unsigned long { TOP = 0xffffffffffffffffUL };
Wide top = TOP;
char16_t c16 = u'\u00e9';
char32_t c32 = U'\U0001F600';
int &ri = i;
const int &rj = j;
Point &rpt = pt;

namespace ns {
int value = 77;
struct Inner { int a = 1; static int shared; enum Kind { K0, K1 = 9 }; };
int Inner::shared = 55;
Inner inner;
typedef unsigned short word16;
word16 short_word = 9;
Inner::Kind kind = Inner::K1;
}

struct Base { virtual ~Base() {} int b = 1; virtual int id() { return 1; } };
struct Other { virtual ~Other() {} int o = 2; virtual int ido() { return 2; } };
struct Derived : Base, Other {
	int d = 3;
	int id() override { return 3; }
	int add(int x) { return d + x; }
	int get() const { return d; }
};
struct Leaf : Derived { int leaf = 4; };
struct VBase { virtual ~VBase() {} int v = 10; };
struct VLeft : virtual VBase { int left = 11; };
struct VRight : virtual VBase { int right = 12; };
struct VBottom : VLeft, VRight { int bottom = 13; };
struct Alone { virtual ~Alone() {} int a = 5; };
Derived derived;
Leaf leaf;
VBottom bottom;
Alone alone;
Base *pb = &derived, *pleaf = &leaf, *pbnull = nullptr, plain, *pplain = &plain;
Other *po = &derived;
Derived *pd = &derived;
VBase *pvb = &bottom;
VLeft *pvl = &bottom;
int Derived::*pmd = &Derived::d;
int Derived::*pmb = &Derived::b;
int Derived::*pmo = &Derived::o;
int Derived::*pmnull = nullptr;
int Base::*pmbase = &Base::b;
int Point::*pmy = &Point::y;
int (Derived::*pmf)(int) = &Derived::add;
int (Derived::*pmv)() = &Derived::id;
int (Derived::*pmc)() const = &Derived::get;
int (Derived::*pmfnull)(int) = nullptr;

template <class T> struct Box { T value; static int count; };
template <class T> int Box<T>::count = 3;
Box<int> ibox = { 5 };
Box<Box<short>> bbox = { { 6 } };
int boxes = Box<int>::count;

int stop() { return zero; }

#ifndef JUDGE
int main() {
	stop();
	return derived.add(0) + derived.get() + boxes - 9; // stop
}
#endif
