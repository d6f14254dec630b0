// What a Mach-O file can have in its symbol table: functions and data, visible and not, weak, common and thread-local;
// a function of another library, which gets a stub; a label inside a function.
extern int puts(const char *);
extern double strtod(const char *, char **);

int zeros[1000];
static int hidden_zeros[500];
int data = 5;
const char *const text = "text";
_Thread_local int tls = 3;
_Thread_local int tls_zero;
__attribute__((weak)) int weak_data = 7;

static __attribute__((noinline)) int fn(int a) { return a * a + data; }
__attribute__((weak, noinline)) int weak_fn(int a) { return fn(a) + weak_data; }
__attribute__((visibility("hidden"), noinline)) int hidden_fn(int *p) { return *p + tls + tls_zero; }

__asm__(".text\n"
	".globl _outer\n"
	"_outer:\n"
	"nop\n"
	".alt_entry _inner\n"
	"_inner:\n"
	"nop\n"
	"ret\n");

int main(int c, char **v)
{
	puts(text);
	hidden_zeros[c] = (int)strtod(v[0], 0);
	return fn(c) + zeros[c] + weak_fn(c) + hidden_fn(&c) + hidden_zeros[c + 1];
}
