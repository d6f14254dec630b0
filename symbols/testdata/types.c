// One variable of each kind of type; the test asks gdb for each.
#include <complex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <uchar.h>
#include <stdbool.h>

struct point { int x, y; };
struct bits { unsigned a : 3; unsigned b : 13; int c : 7; unsigned long d : 40; bool e : 1; char tail; };
struct nest { struct point p[3]; union { int i; float f; }; struct { short s; } named; struct nest *self; char flex[]; };
union both { long l; double d; unsigned char bytes[8]; };
enum color { RED, GREEN = 5, BLUE = -2 };
enum big { HUGE_ONE = 0xfffffffff };
typedef struct { int anon; } anon_t;
typedef int (*binop)(int, int);
typedef unsigned long ulong_t;
struct opaque;

char v_char; signed char v_schar; unsigned char v_uchar; short v_short; unsigned short v_ushort;
int v_int; unsigned v_uint; long v_long; unsigned long v_ulong; long long v_ll; unsigned long long v_ull;
float v_float; double v_double; long double v_ld; bool v_bool; __int128 v_i128; unsigned __int128 v_u128;
double complex v_complex; float complex v_fcomplex; char16_t v_c16; char32_t v_c32; wchar_t v_wchar;
int *p_int; char **pp_char; const char *p_cchar; char *const cp_char = 0; const volatile int *p_cvint; void *p_void; const void *p_cvoid;
char *restrict rp_char; volatile int v_volatile; _Atomic int v_atomic; const int v_const = 5; const struct point c_point = {1, 2};
int a1[3]; int a2[2][3]; int a3[2][3][4]; char *ap[4]; int (*pa)[4]; const char *const acc[2] = {"a", "b"}; extern int unknown[]; int unknown[7];
const int ca[3] = {1, 2, 3}; struct point aps[2]; int zero[0];
struct point s_point, *ps_point; struct bits s_bits; struct nest s_nest; union both u_both; enum color e_color; enum big e_big; anon_t t_anon;
struct opaque *p_opaque; ulong_t t_ulong; uint8_t t_u8; size_t t_size; struct { int q; } s_unnamed; enum { LONE } e_unnamed;
binop f_binop; int (*f_plain)(int, const char *); void (*f_void)(void); int (*f_var)(const char *, ...); int (*f_old)(); void (*f_arr[3])(int);
int (*(*f_ret)(int))(char); binop (*f_tret)(binop); struct point (*f_struct)(struct point *, union both); int (*(*pfa)[2])(void);
typedef float v4 __attribute__((vector_size(16))); v4 t_v4; float raw_v4 __attribute__((vector_size(16)));
ptrdiff_t t_pd; int **volatile ppv; const char *(*f_cc)(const char *const *);

int main(void) { static int in_main = 4; return in_main + a1[0]; }
