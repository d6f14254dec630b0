// Prints the value of an expression as dbg does. The tests of the tables of expressions compile a program
// that shows each expression of a table with it: the compiler is the judge.
#include <math.h>
#include <stdio.h>
#include <string.h>

static int judged;

static void show_begin(int line) {
	judged = line;
	fflush(stdout);
	fprintf(stderr, "@%d\n", line);
	printf("%d\t", line);
}

static void show_real(long double v, int digits, unsigned long payload) {
	if (isnan(v))
		printf("%snan(0x%lx)", signbit(v) ? "-" : "", payload);
	else
		printf("%.*Lg", digits, v);
}

static unsigned long payload_float(float v) { unsigned u; memcpy(&u, &v, 4); return u & 0x7fffff; }
static unsigned long payload_double(double v) { unsigned long u; memcpy(&u, &v, 8); return u & 0xfffffffffffffUL; }
static unsigned long payload_long(long double v) { unsigned long u; memcpy(&u, &v, 8); return u; }

static void show_float_part(float v) { show_real(v, 9, payload_float(v)); }
static void show_double_part(double v) { show_real(v, 17, payload_double(v)); }
static void show_long_part(long double v) { show_real(v, 21, payload_long(v)); }

static void show_letter(int v) {
	unsigned char b = v;
	const char *at;
	printf("%d '", v);
	if (b && (at = strchr("\a\b\t\n\v\f\r\\'", b)))
		printf("\\%c", "abtnvfr\\'"[at - strchr("\a\b\t\n\v\f\r\\'", '\a')] );
	else if (b < 32 || b > 126)
		printf("\\%03o", b);
	else
		putchar(b);
	printf("'\n");
}

static void show_unsigned128(unsigned __int128 v) {
	char buf[48], *p = buf + sizeof buf;
	*--p = 0;
	do *--p = '0' + (int)(v % 10); while (v /= 10);
	printf("%s\n", p);
}

static void show_signed128(__int128 v) {
	if (v < 0)
		putchar('-');
	show_unsigned128(v < 0 ? -(unsigned __int128)v : (unsigned __int128)v);
}

static void show_flag(BOOL v) { puts(v ? "true" : "false"); }
static void show_long(long v) { printf("%ld\n", v); }
static void show_ulong(unsigned long v) { printf("%lu\n", v); }
static void show_float(float v) { show_float_part(v); puts(""); }
static void show_double(double v) { show_double_part(v); puts(""); }
static void show_longdouble(long double v) { show_long_part(v); puts(""); }
static void show_cfloat(float _Complex v) { show_float_part(__real__ v); printf(" + "); show_float_part(__imag__ v); puts("i"); }
static void show_cdouble(double _Complex v) { show_double_part(__real__ v); printf(" + "); show_double_part(__imag__ v); puts("i"); }
static void show_clong(long double _Complex v) { show_long_part(__real__ v); printf(" + "); show_long_part(__imag__ v); puts("i"); }

#ifdef __cplusplus
#define OVERLOAD(T, NAME) static void show(T v) { NAME(v); }
OVERLOAD(char, show_letter)
OVERLOAD(signed char, show_letter)
OVERLOAD(unsigned char, show_letter)
OVERLOAD(bool, show_flag)
OVERLOAD(short, show_long)
OVERLOAD(int, show_long)
OVERLOAD(long, show_long)
OVERLOAD(long long, show_long)
OVERLOAD(unsigned short, show_ulong)
OVERLOAD(unsigned, show_ulong)
OVERLOAD(unsigned long, show_ulong)
OVERLOAD(unsigned long long, show_ulong)
OVERLOAD(__int128, show_signed128)
OVERLOAD(unsigned __int128, show_unsigned128)
OVERLOAD(float, show_float)
OVERLOAD(double, show_double)
OVERLOAD(long double, show_longdouble)
OVERLOAD(float _Complex, show_cfloat)
OVERLOAD(double _Complex, show_cdouble)
OVERLOAD(long double _Complex, show_clong)
static void show(Color v) {
	switch (v) {
	case RED: puts("RED"); break;
	case GREEN: puts("GREEN"); break;
	case BLUE: puts("BLUE"); break;
	default: show_ulong(v);
	}
}
static void show(Sign v) { puts(v == MINUS ? "MINUS" : v == NONE ? "NONE" : "PLUS"); }
static void show(Flags v) {
	if (v == 0) { puts("0"); return; }
	const char *names[] = { "READ", "WRITE", "EXEC" }, *gap = "";
	bool many = v & (v - 1);
	if (many) printf("(");
	for (int k = 0; k < 3; k++)
		if (v >> k & 1) { printf("%s%s", gap, names[k]); gap = " | "; }
	puts(many ? ")" : "");
}
static void show(Level v) {
	puts(v == Level::Low ? "Level::Low" : v == Level::Mid ? "Level::Mid" : v == Level::High ? "Level::High" : "?");
}
static void show(Wide v) { puts(v == TOP ? "TOP" : "?"); }
static void show(ns::Inner::Kind v) { puts(v == ns::Inner::K0 ? "ns::Inner::K0" : "ns::Inner::K1"); }
#define SHOW(line, e) show_begin(line); show(e)
#else
#define SHOW(line, e) show_begin(line); _Generic((e), char: show_letter, signed char: show_letter, \
	unsigned char: show_letter, _Bool: show_flag, short: show_long, int: show_long, long: show_long, \
	long long: show_long, unsigned short: show_ulong, unsigned: show_ulong, unsigned long: show_ulong, \
	unsigned long long: show_ulong, __int128: show_signed128, unsigned __int128: show_unsigned128, \
	float: show_float, double: show_double, long double: show_longdouble, float _Complex: show_cfloat, \
	double _Complex: show_cdouble, long double _Complex: show_clong)(e)
#endif
