// Functions of many shapes of frame: sizes from none to what only the code says, and many sets of saved registers.
extern void use(void *);
extern int calls(int);

#define LEAF(n, ...) int n(int a) { __asm__ volatile("" ::: "memory", ##__VA_ARGS__); return a + 1; }
#define BODY(n, size, ...) \
	int n(int a) \
	{ \
		char b[size]; \
		use(b); \
		__asm__ volatile("" ::: "memory", ##__VA_ARGS__); \
		return calls(a) + b[a]; \
	}
#define ALL(n, ...) \
	LEAF(n##_leaf, ##__VA_ARGS__) \
	BODY(n##_16, 16, ##__VA_ARGS__) \
	BODY(n##_300, 300, ##__VA_ARGS__) \
	BODY(n##_3000, 3000, ##__VA_ARGS__) \
	BODY(n##_70000, 70000, ##__VA_ARGS__)

ALL(none)
#if defined(__x86_64__)
ALL(b, "rbx")
ALL(c, "r12")
ALL(d, "r13")
ALL(e, "r14")
ALL(f, "r15")
ALL(bc, "rbx", "r12")
ALL(bf, "rbx", "r15")
ALL(ce, "r12", "r14")
ALL(df, "r13", "r15")
ALL(bde, "rbx", "r13", "r14")
ALL(cef, "r12", "r14", "r15")
ALL(bcde, "rbx", "r12", "r13", "r14")
ALL(cdef, "r12", "r13", "r14", "r15")
ALL(bcdef, "rbx", "r12", "r13", "r14", "r15")
#ifdef BP
ALL(p, "rbp")
ALL(bp, "rbx", "rbp")
ALL(ep, "r14", "rbp")
ALL(bdfp, "rbx", "r13", "r15", "rbp")
ALL(bcdefp, "rbx", "r12", "r13", "r14", "r15", "rbp")
#endif
#elif defined(__i386__)
ALL(b, "ebx")
ALL(d, "edi")
ALL(s, "esi")
ALL(bd, "ebx", "edi")
ALL(bs, "ebx", "esi")
ALL(bds, "ebx", "edi", "esi")
#ifdef BP
ALL(p, "ebp")
ALL(bp, "ebx", "ebp")
ALL(bdsp, "ebx", "edi", "esi", "ebp")
#endif
#else
ALL(a, "x19")
ALL(b, "x21", "x22")
ALL(c, "x19", "x28")
ALL(d, "x19", "x20", "x21", "x22", "x23")
ALL(e, "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28")
ALL(f, "d8")
ALL(g, "d9", "d14")
ALL(h, "x19", "x25", "d10", "d13")
ALL(i, "d8", "d9", "d10", "d11", "d12", "d13", "d14", "d15")
ALL(j, "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "d8", "d9", "d10", "d11", "d12", "d13", "d14", "d15")
#endif

int variable(int n)
{
	char b[n];
	use(b);
	return b[0];
}

int aligned(int n)
{
	__attribute__((aligned(64))) char b[64];
	use(b);
	return b[n];
}

int many(int a, int b, int c, int d, int e, int f, int g, int h, int i)
{
	return calls(a) + calls(b) * calls(c) - calls(d) + calls(e) * calls(f) + calls(g + h * i) + a * b + c * d + e * f;
}
