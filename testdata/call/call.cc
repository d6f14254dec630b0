#include <complex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <unistd.h>
struct Point { int x, y; };
struct Mixed { double d; int i; };
struct Big { long a[5]; };
struct Base { int b; virtual int who() const { return 1; } int base() { return b; } };
struct Derived : Base { int c; int who() const override { return 2; } int add(double f, const char *s) { return c + (int)f + (int)strlen(s); } };
struct Text { char *p; Text(const char *s) : p(strdup(s)) {} Text(const Text &o) : p(strdup(o.p)) {} ~Text() { free(p); } };
int f(int x) { return x + 1; }
double half(float x) { return x / 2; }
Point move(Point p, int by) { return Point{p.x + by, p.y + by}; }
Mixed mix(Mixed m) { return Mixed{m.d * 2, m.i + 1}; }
Big big(Big b, int n) { b.a[0] += n; return b; }
long double ld(long double x) { return x * 2; }
_Complex double cplx(_Complex double z) { return z * 2.0; }
void inc(int &r) { r++; }
size_t length(Text t) { return strlen(t.p); }
const char *twice(const char *s) { static char out[100]; snprintf(out, sizeof out, "%s%s", s, s); return out; }
int over(int) { return 1; }
int over(double) { return 2; }
int over(const char *) { return 3; }
int amb(long, int) { return 1; }
int amb(int, long) { return 2; }
int sum(int n, ...) { va_list l; va_start(l, n); double s = 0; for (int i = 0; i < n; i++) s += va_arg(l, double); va_end(l); return (int)s; }
int crash(int *p) { return *p; }
int leave(int code) { exit(code); }
int raises() { raise(SIGUSR1); return 5; }
int throws() { throw 1; }
void nothing() {}
int (*fp)(int) = f;
volatile long counter;
void tick() { counter++; }
void *spin(void *) { for (;;) { tick(); usleep(100); } }
int slow(int us) { usleep(us); return 7; }
int main(int argc, char **argv) {
    int v = 41; Point p{1, 2}; Mixed m{1.5, 3}; Big b{{1, 2, 3, 4, 5}}; Derived d; d.b = 10; d.c = 20; Base *pb = &d; Text t("hello");
    _Complex double z = 1.0 + 2.0j;
    if (argc > 1) { pthread_t th; pthread_create(&th, 0, spin, 0); }
    int r = f(v) + over(1) + over(1.0) + over("x") + amb(1l, 1) + amb(1, 1l) + sum(0) + raise(0);  // stop
    if (argc > 100) { move(p, 1); mix(m); big(b, 1); ld(1); z = cplx(z); inc(v); length(t); twice(""); crash(&v); leave(1); raises(); throws(); nothing(); half(1); slow(1); d.add(1, ""); pb->who(); pb->base(); fp(1); }
    printf("%d %f\n", r, __real__ z);
    return 0;
}
