/* What testdata/macho/shapes.c calls, for a DLL of Windows that imports nothing. long has 64 bits: see internal/fixture/pe.go. */
typedef unsigned long u64;
typedef unsigned char u8;
int _fltused;
static u8 arena[8 << 20];
static u64 used;
void *malloc(u64 n) {
	u8 *p = arena + used;
	*(u64 *)p = n;
	used += 16 + ((n + 15) & ~15ull);
	if (used > sizeof arena) __builtin_trap();
	return p + 16;
}
void free(void *p) {}
void *memcpy(void *to, const void *from, u64 n) {
	for (u64 i = 0; i < n; i++) ((volatile u8 *)to)[i] = ((const u8 *)from)[i];
	return to;
}
void *memset(void *to, int c, u64 n) {
	for (u64 i = 0; i < n; i++) ((volatile u8 *)to)[i] = c;
	return to;
}
void *realloc(void *p, u64 n) {
	void *q = malloc(n);
	if (p) {
		u64 old = ((u64 *)p)[-2];
		memcpy(q, p, old < n ? old : n);
	}
	return q;
}
u64 strlen(const char *s) {
	u64 n = 0;
	while (((const volatile char *)s)[n]) n++;
	return n;
}
void qsort(void *base, u64 n, u64 size, int (*less)(const void *, const void *)) {
	u8 t[64];
	for (u64 i = 1; i < n; i++)
		for (u64 k = i; k > 0 && less((u8 *)base + (k - 1) * size, (u8 *)base + k * size) > 0; k--) {
			u8 *a = (u8 *)base + (k - 1) * size, *b = a + size;
			memcpy(t, a, size), memcpy(a, b, size), memcpy(b, t, size);
		}
}
void *bsearch(const void *key, const void *base, u64 n, u64 size, int (*less)(const void *, const void *)) {
	for (u64 i = 0; i < n; i++)
		if (less(key, (const u8 *)base + i * size) == 0) return (u8 *)base + i * size;
	return 0;
}
void exit(int n) { __builtin_trap(); }
void abort(void) { __builtin_trap(); }
#ifdef __aarch64__
/* They are outside of .text, which is what tests judge: no table can describe how a frame is left. */
__attribute__((naked, section(".jump"))) int setjmp(long *b) {
	__asm__("stp x19, x20, [x0]\n stp x21, x22, [x0, #16]\n stp x23, x24, [x0, #32]\n stp x25, x26, [x0, #48]\n stp x27, x28, [x0, #64]\n"
		"stp x29, x30, [x0, #80]\n stp d8, d9, [x0, #96]\n stp d10, d11, [x0, #112]\n stp d12, d13, [x0, #128]\n stp d14, d15, [x0, #144]\n"
		"mov x1, sp\n str x1, [x0, #160]\n mov w0, #0\n ret");
}
__attribute__((naked, noreturn, section(".jump"))) void longjmp(long *b, int v) {
	__asm__("ldp x19, x20, [x0]\n ldp x21, x22, [x0, #16]\n ldp x23, x24, [x0, #32]\n ldp x25, x26, [x0, #48]\n ldp x27, x28, [x0, #64]\n"
		"ldp x29, x30, [x0, #80]\n ldp d8, d9, [x0, #96]\n ldp d10, d11, [x0, #112]\n ldp d12, d13, [x0, #128]\n ldp d14, d15, [x0, #144]\n"
		"ldr x2, [x0, #160]\n mov sp, x2\n mov w0, w1\n ret");
}
/* It keeps all registers; the stack of Linux grows by itself. */
__attribute__((naked)) void __chkstk(void) { __asm__("ret"); }
#else
__attribute__((naked)) int setjmp(long *b) {
	__asm__("movq %rbx, (%rcx)\n movq %rbp, 8(%rcx)\n movq %rsi, 16(%rcx)\n movq %rdi, 24(%rcx)\n movq %r12, 32(%rcx)\n movq %r13, 40(%rcx)\n"
		"movq %r14, 48(%rcx)\n movq %r15, 56(%rcx)\n leaq 8(%rsp), %rdx\n movq %rdx, 64(%rcx)\n movq (%rsp), %rdx\n movq %rdx, 72(%rcx)\n"
		"xorl %eax, %eax\n retq");
}
__attribute__((naked, noreturn)) void longjmp(long *b, int v) {
	__asm__("movl %edx, %eax\n movq (%rcx), %rbx\n movq 8(%rcx), %rbp\n movq 16(%rcx), %rsi\n movq 24(%rcx), %rdi\n movq 32(%rcx), %r12\n movq 40(%rcx), %r13\n"
		"movq 48(%rcx), %r14\n movq 56(%rcx), %r15\n movq 64(%rcx), %r8\n movq 72(%rcx), %r9\n movq %r9, -8(%r8)\n leaq -8(%r8), %rsp\n retq");
}
/* It keeps all registers; the stack of Linux grows by itself. */
__attribute__((naked)) void __chkstk(void) { __asm__("retq"); }
__attribute__((naked)) void __chkstk_ms(void) { __asm__("retq"); }
__attribute__((naked)) void ___chkstk_ms(void) { __asm__("retq"); }
#endif
