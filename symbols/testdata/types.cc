// C++ types; the test asks gdb for each variable.
#include <cstddef>
#include <cstdint>
namespace ns {
struct A { int x; static int count; enum E { E1, E2 }; typedef int number; };
int A::count = 1;
template <typename T, int N> struct Box { T items[N]; T &first() { return items[0]; } };
enum class Scoped : short { One = 1, Two };
namespace deep { class K { public: int k; virtual ~K() {} virtual int f(int) { return 0; } }; K v_k; const K *p_k; }
A v_a; A::E v_e; A::number v_number; Scoped v_scoped; Box<int, 3> v_box; Box<A *, 2> *p_box;
namespace { int v_hidden = 1; struct Hidden { int h; } v_hid; }
}
struct B1 { int b1; }; struct B2 { long b2; };
struct D : B1, virtual B2 { int d; } v_d;
int v_int; int &r_int = v_int; const int &rc_int = v_int; int &&rr_int = 3; int *&rp_int = *new int *;
int (&ra)[3] = *new int[1][3]; void (*f_ref)(int &, const ns::A &, ns::A &&); int (ns::A::*m_data) = &ns::A::x;
int (ns::deep::K::*m_func)(int) = &ns::deep::K::f; decltype(nullptr) v_null = nullptr; bool v_bool; wchar_t v_wchar; char16_t v_c16; char32_t v_c32; 
auto v_lambda = [](int a) { return a + v_int; };
union U { int i; float f; U() : i(0) {} } v_u; class C { int priv; protected: int prot; public: int pub; } v_c;
const char *const v_ccp = "x"; extern "C" int (*f_c)(...); int (*f_c)(...); constexpr int v_constexpr = 9; static const double v_sd = 2.5;
int use() { return v_constexpr + (int)v_sd + ns::v_hidden + ns::v_hid.h; }
int main() { return use() + ns::A::count + v_lambda(1); }
