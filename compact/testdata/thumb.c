// Functions of armv7k that save registers in every way that compact unwind can describe.
int g(int);
double h(double);

#define SAVES(name, ...) \
	int name(int x) \
	{ \
		int y = g(x); \
		__asm__ volatile("" ::: __VA_ARGS__); \
		return g(y) + x; \
	} \
	int name##_variadic(int x, ...) \
	{ \
		__builtin_va_list list; \
		__builtin_va_start(list, x); \
		int y = g(__builtin_va_arg(list, int)); \
		__asm__ volatile("" ::: __VA_ARGS__); \
		return g(y) + x; \
	}

SAVES(none, "r0")
SAVES(r4, "r4")
SAVES(r456, "r4", "r5", "r6")
SAVES(r6, "r6")
SAVES(r8, "r8")
SAVES(r10, "r4", "r10")
SAVES(r11, "r5", "r11")
SAVES(all, "r4", "r5", "r6", "r8", "r9", "r10", "r11")
SAVES(r12, "r12")
SAVES(d8, "d8")
SAVES(d9, "d8", "d9")
SAVES(d10, "d8", "d10")
SAVES(d12, "r4", "r8", "d8", "d10", "d12")
SAVES(d14, "r5", "d8", "d10", "d12", "d14")
SAVES(d15, "d8", "d9", "d10", "d11", "d12", "d13", "d14", "d15")

double keeps1(double a, int b) { return h(a) + a * b; }
double keeps2(double a, double b) { return h(a) + a * b + h(b) + b; }
double keeps3(double a, double b, double c) { return h(a) + a * b + h(b) + b * c + h(c); }
double keeps4(double a, double b, double c, double d) { return h(a) + a * b + h(b) + b * c + h(c) + d * a + h(d); }
double keeps6(double a, double b, double c, double d, double e, double f)
{
	return h(a) + a * b + h(b) + b * c + h(c) + d * a + h(d) + e * f + h(e) + f * a + h(f);
}
