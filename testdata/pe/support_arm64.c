/* What testdata/macho/shapes.c calls, for a DLL of Windows for ARM64 that imports nothing and is never run. long has
 * 64 bits: see internal/fixture/pe.go. */
typedef unsigned long u64;
int _fltused;
void *malloc(u64 n) { return (void *)n; }
void *realloc(void *p, u64 n) { return p; }
void free(void *p) {}
void *memcpy(void *to, const void *from, u64 n) { return to; }
void *memset(void *to, int c, u64 n) { return to; }
u64 strlen(const char *s) { return 0; }
void qsort(void *base, u64 n, u64 size, int (*less)(const void *, const void *)) {}
void *bsearch(const void *key, const void *base, u64 n, u64 size, int (*less)(const void *, const void *)) { return 0; }
void exit(int n) { __builtin_trap(); }
void abort(void) { __builtin_trap(); }
int setjmp(long *b) { return 0; }
void longjmp(long *b, int v) { __builtin_trap(); }
void __chkstk(void) {}
