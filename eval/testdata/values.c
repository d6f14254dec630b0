// Values of every kind of C type, for eval's tests against gdb: nothing runs, both read the
// file's data.
#include <uchar.h>
#include <wchar.h>

typedef unsigned char u8;
typedef int (*compare)(const void *, const void *);
typedef int *intp;

enum color { RED, GREEN = 5, NEG = -2 };
enum flags { FA = 1, FB = 2, FC = 4 };
enum zero { Z0, ZA = 1, ZB = 2 };
enum multi { MM = 0x30, MA = 1, MB = 2 };

struct in { int x; char c; float f; };
typedef struct in in_t;
struct st {
    int a;
    struct in b;
    int *p;
    char *s;
    void (*fn)(int);
    char buf[16];
    unsigned bf : 3;
    int sb : 5;
    enum color e;
    union { int i; float g; } u;
    union { int ai; char ac; };
};
struct empty {};
struct pair { int a, b; };

void handler(int x) { (void)x; }

int global = 42;
int zeros9[9], zeros10[10], zeros11[11], zeros30[30];
int five[5] = {1, 2, 3, 3, 3};
int matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
int square[20][20];
int big[300];
int run[250] = {1, 2, 3};
int distinct[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
short shorts[3] = {-1};

char text16[16] = "abc", full4[4] = "abcd", nuls5[5] = "a\0\0\0", escapes[] = "x\0001y\n\033z\377";
char zeros250[250], nulls4[4], same10[] = "aaaaaaaaaa", same11[] = "aaaaaaaaaaa";
char mixed[] = "aaaaaaaaaaaaaaaaaaaabcdddddddddddddddd";
char backslash[] = "\\", utf[] = "h\u00e9llo", incomplete[] = "h\303", invalid[] = "\303z";
unsigned char bytes3[3] = {1, 2, 3};

struct st s = {1, {2, 'a', 1.5}, &global, "hello", handler, "hey", 5, -3, GREEN, {7}, {3}};
struct st *sp = &s, *bads = (struct st *)0x10;
struct in twelve[12], three[3] = {{1, 'a', 2}, {1, 'a', 2}};
struct pair pairs[300] = {{1, 2}};
struct empty emp;
in_t tin = {9};
in_t *tinp = &tin;

char *cp = "str\twith \"q\" 'x'", *nul, *bad = (char *)1, *runp = same11;
u8 *up = (u8 *)"u8str";
const char *ccp = "const";
volatile char *vcp = "vol";
signed char *scp = (signed char *)"sc";
char *longs = "01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
              "01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789";
const char *names[3] = {"one", "two", 0};
char *none[12];

float fl = 0.1f, huge = 1e10f;
double db = 0.1, inf = 1.0 / 0.0, nn = -(0.0 / 0.0), big_d = 1e30, neg0 = -0.0;
double dbls[] = {1e15, 1e16, 1e17, 1e18, 123456789.125, 1e-5, 0.0001};
long double ld = 0.1L, lds = 1e4000L;
double _Complex cx = 1.0 + 2.0i;

enum color col = GREEN, colx = 99;
enum flags f3 = 3, f11 = 11, f0 = 0, f64 = 0x40;
enum zero z3 = 3;
enum multi m31 = 0x31, m10 = 0x10;

_Bool bo = 1;
wchar_t ws[] = L"wide\u00e9", wc = L'w';
char16_t *u16 = u"u16";
char32_t c32 = U'x';
__int128 i128 = (__int128)1 << 100;
unsigned short us = 65535;
signed char sc = -3;
unsigned char q200 = 200, quote = '\'';
char esc = 27;
long lng = -1;
unsigned un = 4000000000u;
unsigned long ul = ~0ul;

int *ip = &global, **ipp = &ip;
void *vp = &global, *vps[2] = {&global, 0};
void (*fp)(int) = handler, (*fns[2])(int) = {handler, 0};
int (*pa)[3] = matrix;
int (*apf[3])(void);
compare cmpf;
intp tip = &global;
volatile const int vc = 3;

int main(void) { return 0; }
