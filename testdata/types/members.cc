// Captures of lambdas, flags, bit-fields and unions.
#include <cstdint>
struct S { int m = 3; void run() { int a = 1; double b = 2; auto f = [this, a, &b, c = a + 5](int x) { return m + a + b + c + x; }; f(1); stop(); } static void stop(); };
enum Flags { F_A = 1, F_B = 2, F_C = 4, F_MASK = 7 };
enum Multi { M0 = 0, M1 = 1, M2 = 2, M34 = 0x30, M8 = 0x80 };
enum class Perm : uint8_t { R = 1, W = 2, X = 4 };
struct Bits { unsigned a : 3; int b : 5; bool c : 1; Flags d : 3; Perm p; int64_t e : 40; };
struct Var { int kind; union { int i; double d; struct { short x, y; }; }; union U { char c[4]; float f; } u; };
Flags f1 = Flags(3), f2 = Flags(7), f3 = Flags(8|1), f0 = Flags(0); Multi m1 = Multi(0x31), m2 = Multi(0x10), m3=Multi(0x83), m0 = M0; Perm pe = Perm(5);
Bits bits = {5, -3, true, F_B, Perm::W, -7};
Var var = {1, {2}, {{'a','b','c',0}}};
void S::stop() {}
int main() { S s; s.run(); int n = 4; auto g = [&]{ return s.m + n; }; auto h = [=]() mutable { n++; return s.m + n; }; g(); h(); S::stop(); return 0; }
