// The variables of the C and C++ tables of expressions. The values are at the edges of their types.
#include <stdint.h>
#include <stddef.h>
#ifdef __cplusplus
#define BOOL bool
#else
#define BOOL _Bool
#endif

char c = 'a', cneg = -3;
signed char sc = -5, scmin = -128, scmax = 127;
unsigned char uc = 200, ucmax = 255;
short s = -300, smin = -32768, smax = 32767;
unsigned short us = 60000, usmax = 65535;
int i = 7, j = -7, imin = -2147483647 - 1, imax = 2147483647, zero = 0;
unsigned u = 3000000000u, umax = 4294967295u, uone = 1;
long l = -5000000000L, lmin = -9223372036854775807L - 1, lmax = 9223372036854775807L;
unsigned long ul = 10000000000000000000UL, ulmax = 18446744073709551615UL;
long long ll = 123456789012LL;
unsigned long long ull = 12345678901234567890ULL;
__int128 w = ((__int128)-5 << 70) - 12345, wmax = (__int128)(((unsigned __int128)1 << 127) - 1), wsmall = 42;
unsigned __int128 uw = ((unsigned __int128)0x0123456789abcdefULL << 64) | 0xfedcba9876543210ULL, uwmax = ~(unsigned __int128)0;
float f = 1.1f, fbig = 16777216.0f, fneg = -0.0f, fsmall = 1.17549435e-38f, ftiny = 1.4e-45f;
double d = 1.1, dbig = 9007199254740992.0, dneg = -2.5, dmax = 1.7976931348623157e308, dtiny = 4.9e-324;
long double ld = 1.1L, ldbig = 18446744073709551615.0L, ldneg = -3.25L, ldmax = 1.18973149535723176502e4932L,
	ldtiny = 3.64519953188247460253e-4951L;
BOOL yes = 1, no = 0;
float _Complex cf = 1.5f + 2.0f * (__extension__ 1.0fi);
double _Complex cd = 1.1 - 2.25 * (__extension__ 1.0i), cd2 = 0.5 + 3.0 * (__extension__ 1.0i);
long double _Complex cld = 1.1L + 0.1L * (__extension__ 1.0iL);
wchar_t wc = L'\x3b1';
int64_t t64 = -64;
uint8_t t8 = 250;
size_t tsize = 100;

enum Color { RED, GREEN = 5, BLUE };
enum Flags { READ = 1, WRITE = 2, EXEC = 4 };
enum Sign { MINUS = -1, NONE, PLUS };
enum Color col = GREEN;
enum Flags flags = READ;
enum Sign sign = MINUS;

struct Bits {
	unsigned lo : 3;
	int mid : 5;
	unsigned big : 31;
	unsigned full : 32;
	unsigned long wide : 40;
	long swide : 40;
	BOOL flag : 1;
} bits = { 5, -3, 2147483647u, 4294967295u, 1099511627775UL, -1, 1 };

struct Point { int x, y; };
struct Point pt = { 3, 4 }, pts[3] = { { 1, 2 }, { 3, 4 }, { 5, 6 } }, *pp = &pts[1];
struct Node { int id; struct Node *next; struct Point at; int tail[3]; };
struct Node second = { 2, 0, { 7, 8 }, { 21, 22, 23 } }, node = { 1, &second, { 5, 6 }, { 11, 12, 13 } }, *np = &node;
union Word { int whole; unsigned char bytes[4]; float real; } word = { 0x3f800000 };

int arr[6] = { 10, 20, 30, 40, 50, 60 }, *pi = arr + 2, *pnull = 0;
int grid[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
long larr[3] = { 100, 200, 300 }, *pl = larr + 1;
double darr[3] = { 0.5, 1.5, 2.5 };
char text[] = "hello";
const char *msg = "world";
void *vp = arr;
int twice(int x) { return 2 * x; }
int (*fn)(int) = twice;
