// What both units of the program of named.cc have.
struct S {
	static const int konst = 5;
	static constexpr int cexp = 6;
	static int counter;
	enum In { Ia, Ib };
	struct Nest { int n; struct Deep { long d; } deep; };
	typedef int tdef;
	static inline int sq(int x) { return x * x; }
	template <class T> static T tpl(T t) { return t + 1; }
	int method(int a) const { return a + v; }
	int v;
};
namespace { inline int hidden_inline(int x) { return x + 3; } struct Hidden { int a; } hidden; static int hidden_static = 4; }
namespace n {
static inline int only_inlined(int x) { return S::sq(x) + hidden_inline(x); }
template <class T> inline T instance(T x) { return x + only_inlined((int)x); }
template <class T, int N> struct Box { T items[N]; T first() { return items[0]; } enum { Room = N }; };
enum class E2 { X2, Y2 };
enum E3 { X3 };
const int nconst = 8;
static int nstat;
inline namespace v1 { inline int versioned(int a) { return a + 1; } }
}
using Alias = n::E2;
template <class T> using Pointer = T *;
inline int external_inline(int a) { return a * 7; }
