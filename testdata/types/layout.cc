// Types for "ptype/o": holes, padding, bit-fields, nested types, unions, static members, methods.
#include <cstdint>

struct Empty {};
struct One { char c; };
struct Hole { char a; int b; };
struct Holes { char a; long b; short c; long d; };
struct Tail { long a; char b; };
struct Bits { unsigned a : 3; unsigned b : 5; unsigned c : 8; int d; };
struct BitHole { unsigned a : 3; unsigned : 4; unsigned b : 5; };
struct BitEnd { int a; unsigned b : 3; };
struct BitZero { char a : 2; int : 0; char b : 3; char c; };
struct BitLong { int64_t a : 40; int64_t b : 20; int64_t c : 10; };
struct BitByte { unsigned char a : 4; unsigned char b : 4; char c; unsigned short d : 9; };
struct BitAfterHole { char a; unsigned b : 7; long c; };
struct Inner { int x; char y; };
struct Outer { char a; Inner in; char b; };
struct Deep { Outer o; struct { int p; struct { char q; double r; } s; } anonymous; Inner last; };
union Union { int i; double d; char text[12]; };
union UnionOfStructs { Inner in; struct { short s; long l; } raw; char c; };
struct WithUnion { int kind; union { int i; double d; }; char end; };
struct WithNamedUnion { char kind; Union u; int after; };
struct Static { int a; static int count; static Inner shared; char b; };
int Static::count; Inner Static::shared;
class Private { int a; char b; public: int c; protected: long d; public: Private() {} int get() const { return a; } };
struct Methods { int a; Methods(); explicit Methods(int); ~Methods(); int f(int, char *) const; static int g(); virtual void v(); void w() volatile;
    Methods &operator=(const Methods &); operator int() const; void h(...); template <class T> T t(T x) { return x; } };
Methods::Methods() {} Methods::Methods(int) {} Methods::~Methods() {} int Methods::f(int, char *) const { return 0; }
int Methods::g() { return 0; } void Methods::v() {} void Methods::w() volatile {} Methods &Methods::operator=(const Methods &) { return *this; }
Methods::operator int() const { return a; } void Methods::h(...) {}
struct Base { int b; char c; };
struct Derived : Base { char d; long e; };
struct Second { long s; };
class Multi : public Base, private Second { int m; };
struct VBase { int v; virtual ~VBase() {} };
struct Virtual : virtual VBase { int w; };
struct Pointers { int *p; char **q; int (*f)(int, const char *); int Inner::*m; int (Methods::*mf)(int, char *) const; int &r; int &&rr; };
struct Arrays { int a[3]; char b[2][5]; Inner in[2]; Inner *ptrs[4]; char tail[3]; };
struct Flexible { int n; char data[]; };
struct Qualified { const int a; volatile char b; const char *const c; int *__restrict d; };
enum Color { RED, GREEN = 5, BLUE };
enum class Mode : uint8_t { Off, On = 3 };
struct Enums { Color c; Mode m; enum Local { A, B } l; };
struct Typedefs { typedef int number; using pointer = Inner *; number n; pointer p; typedef struct { int q; } hidden; hidden h; };
template <typename T, int N> struct Template { T value; T items[N]; int count; };
template <typename... T> struct Pack { char c; };
struct __attribute__((packed)) Packed { char a; long b; short c; };
struct alignas(32) Aligned { int a; };
struct AlignedMember { char a; alignas(16) int b; char c; };
struct HasEmpty { Empty e; int a; [[no_unique_address]] Empty f; };
struct DerivedEmpty : Empty { int a; };
struct Nested { struct In { int a; struct Deeper { char b; } d; } in; union Un { int x; } un; enum En { P } en; int z; };
struct Recursive { Recursive *next; struct Undefined *unknown; };
struct Floats { float f; double d; long double l; bool b; wchar_t w; char16_t u; };
struct Wide { __int128 i; _Complex double c; };
typedef Outer OuterAlias;
typedef const Inner *InnerPointer;

Empty empty; One one; Hole hole; Holes holes; Tail tail; Bits bits; BitHole bit_hole; BitEnd bit_end; BitZero bit_zero;
BitLong bit_long; BitByte bit_byte; BitAfterHole bit_after_hole; Inner inner; Outer outer; Deep deep; Union union_;
UnionOfStructs union_of_structs; WithUnion with_union; WithNamedUnion with_named_union; Static static_; Private private_;
Methods methods; Base base; Derived derived; Second second; Multi multi; VBase vbase; Virtual virtual_; int target; Pointers pointers{0, 0, 0, 0, 0, target, (int &&)target};
Arrays arrays; Flexible flexible; Qualified qualified{1, 2, 0, 0}; Color color; Mode mode; Enums enums; Typedefs typedefs;
Template<int, 3> template_; Template<Inner *, 1> template_p; Pack<int, char> pack; Packed packed; Aligned aligned; AlignedMember aligned_member; HasEmpty has_empty;
DerivedEmpty derived_empty; Nested nested; Recursive recursive; Floats floats; Wide wide; OuterAlias alias; InnerPointer inner_pointer;
int (*function)(int, const char *, ...) = nullptr;
int (Methods::*method)(int, char *) const = &Methods::f;
int Inner::*member = &Inner::x;
int matrix[2][3];

void stop() {}

int main() {
    Inner &ref = inner;
    stop();
    return ref.x + methods.t(1) + (int)private_.get();
}
