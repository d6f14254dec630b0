/* Functions of every shape that compilers make. _run does the same work in every build and returns a sum that is the
 * same in all of them; it needs a process that has qsort, malloc, setjmp and memcpy. No headers: there is no SDK. */
typedef unsigned long u64;
typedef unsigned u32;
typedef unsigned char u8;
typedef __SIZE_TYPE__ size_t;

void *malloc(size_t);
void *realloc(void *, size_t);
void free(void *);
void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t);
size_t strlen(const char *);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
void *bsearch(const void *, const void *, size_t, size_t, int (*)(const void *, const void *));
int setjmp(long *) __attribute__((returns_twice));
void longjmp(long *, int) __attribute__((noreturn));
void exit(int) __attribute__((noreturn));
void abort(void) __attribute__((noreturn));

#define apart __attribute__((noinline))
#define mix(h, x) ((h) = ((h) ^ (u64)(x)) * 0x100000001b3ul, (h) ^= (h) >> 29)

/* Leaves. */
apart static u64 leaf0(void) { return 17; }
apart static u64 leaf1(u64 a) { return a * 3 + 1; }
apart static u64 leaf6(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) { return a ^ b << 1 ^ c << 2 ^ d << 3 ^ e << 4 ^ f << 5; }
apart static u64 leaf10(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i, u64 j) { return a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h * 8 + i * 9 + j * 10; }
apart static u64 redzone(u64 n) {
	volatile u64 v[12];
	for (int i = 0; i < 12; i++) v[i] = n + i;
	return v[n % 12] + v[(n + 5) % 12];
}
apart static double flops(double a, double b) { return a * 0.5 + b * 0.25; }

/* Callers. */
apart static u64 calls1(u64 a) { return leaf1(a) + 1; }
apart static u64 calls2(u64 a) { u64 x = leaf1(a); return x ^ leaf1(x + a); }
apart static u64 calls4(u64 a, u64 b) {
	u64 x = leaf1(a), y = leaf1(b), z = leaf6(x, y, a, b, 1, 2);
	return leaf6(x, y, z, a, b, leaf0());
}
apart static u64 stackargs(u64 a) {
	u64 x = leaf10(a, 1, 2, 3, 4, 5, 6, 7, 8, 9);
	return x + leaf10(9, 8, 7, 6, 5, 4, 3, x, a, 1) + leaf10(x, a, x, a, x, a, x, a, x, a);
}

/* pressure wants more values at once than there are registers. */
apart static u64 pressure(const u64 *p, u64 n) {
	u64 a = p[0], b = p[1], c = p[2], d = p[3], e = p[4], f = p[5], g = p[6], h = p[7], i = p[8], j = p[9], k = p[10], l = p[11];
	for (u64 t = 0; t < n; t++) {
		a += b ^ l, b += c ^ k, c += d ^ j, d += e ^ i, e += f ^ h, f += g ^ a;
		g += h ^ b, h += i ^ c, i += j ^ d, j += k ^ e, k += l ^ f, l += leaf1(a ^ g);
	}
	return a + b + c + d + e + f + g + h + i + j + k + l;
}

/* clobbers has a function save the registers that it names. */
#if defined __x86_64__
#define R1 "rbx"
#define R2 "r12"
#define R3 "r13"
#define R4 "r14"
#define R5 "r15"
#else
#define R1 "x19"
#define R2 "x20", "d8"
#define R3 "x23"
#define R4 "x26", "d11", "d12"
#define R5 "x28"
#endif
#define clobbers(name, ...) \
	apart static u64 name(u64 a) { \
		asm volatile("" ::: __VA_ARGS__); \
		a = leaf1(a); \
		asm volatile("" ::: __VA_ARGS__); \
		return a + 1; \
	} \
	apart static u64 name##_leaf(u64 a) { \
		asm volatile("" ::: __VA_ARGS__); \
		return a * 5; \
	} \
	apart static u64 name##_room(u64 a) { \
		volatile u64 v[40]; \
		asm volatile("" ::: __VA_ARGS__); \
		v[a % 40] = leaf1(a); \
		return v[a % 40]; \
	}
clobbers(c1, R1) clobbers(c2, R2) clobbers(c3, R3) clobbers(c4, R4) clobbers(c5, R5)
clobbers(c12, R1, R2) clobbers(c13, R1, R3) clobbers(c14, R1, R4) clobbers(c15, R1, R5) clobbers(c23, R2, R3)
clobbers(c24, R2, R4) clobbers(c25, R2, R5) clobbers(c34, R3, R4) clobbers(c35, R3, R5) clobbers(c45, R4, R5)
clobbers(c123, R1, R2, R3) clobbers(c124, R1, R2, R4) clobbers(c125, R1, R2, R5) clobbers(c134, R1, R3, R4)
clobbers(c135, R1, R3, R5) clobbers(c145, R1, R4, R5) clobbers(c234, R2, R3, R4) clobbers(c235, R2, R3, R5)
clobbers(c245, R2, R4, R5) clobbers(c345, R3, R4, R5) clobbers(c1234, R1, R2, R3, R4) clobbers(c1235, R1, R2, R3, R5)
clobbers(c1245, R1, R2, R4, R5) clobbers(c1345, R1, R3, R4, R5) clobbers(c2345, R2, R3, R4, R5) clobbers(c12345, R1, R2, R3, R4, R5)
#define all(name) name, name##_leaf, name##_room
static u64 (*const clobbering[])(u64) = {
	all(c1), all(c2), all(c3), all(c4), all(c5), all(c12), all(c13), all(c14), all(c15), all(c23), all(c24), all(c25), all(c34), all(c35), all(c45),
	all(c123), all(c124), all(c125), all(c134), all(c135), all(c145), all(c234), all(c235), all(c245), all(c345),
	all(c1234), all(c1235), all(c1245), all(c1345), all(c2345), all(c12345),
};

/* Large frames: from 2048 bytes on the size is in the instructions only. */
#define room(name, size, keep) \
	apart static u64 name(u64 a) { \
		volatile u8 v[size]; \
		u64 sum = 0; \
		for (u64 i = 0; i < keep; i++) { \
			v[(a + i * 1021) % size] = (u8)(a + i); \
			sum += v[(a + i * 1021) % size] + leaf1(i); \
		} \
		return sum; \
	} \
	apart static u64 name##_leaf(u64 a) { \
		volatile u8 v[size]; \
		v[a % size] = (u8)a; \
		return v[a % size]; \
	}
room(room100, 100, 3) room(room1000, 1000, 3) room(room2000, 2000, 3) room(room2040, 2040, 3) room(room2048, 2048, 3)
room(room3000, 3000, 5) room(room4096, 4096, 5) room(room9000, 9000, 5) room(room70000, 70000, 5)
apart static u64 room_pressure(const u64 *p, u64 n) {
	volatile u64 v[600];
	u64 a = p[0], b = p[1], c = p[2], d = p[3], e = p[4], f = p[5];
	for (u64 t = 0; t < n; t++) {
		v[a % 600] = leaf1(a), f += v[a % 600] ^ a;
		a += b, b ^= c, c += d, d ^= e, e += f;
		v[(a + t) % 600] = f;
		f ^= v[(a + t) % 600] & 1;
	}
	return a + b + c + d + e;
}

/* Stacks that are aligned, and sizes known only when they run. */
apart static u64 aligned(u64 n) {
	_Alignas(64) volatile u64 v[16];
	v[n % 16] = n;
	return leaf1(v[n % 16]) + ((u64)v & 63);
}
apart static u64 fill(u8 *p, u64 n) {
	u64 sum = 0;
	for (u64 i = 0; i < n; i++) p[i] = (u8)(i * 7), sum += p[i];
	return sum;
}
apart static u64 vla(u64 n) {
	u8 v[n * 3 + 1];
	return fill(v, n * 3 + 1) + v[n];
}
apart static u64 allocas(u64 n) {
	u64 sum = 0;
	for (u64 i = 1; i <= n; i++) {
		u8 *p = __builtin_alloca(i * 24);
		sum += fill(p, i * 24);
	}
	return sum;
}
apart static u64 aligned_vla(u64 n) {
	_Alignas(32) volatile u64 v[8];
	u8 w[n + 9];
	v[n % 8] = fill(w, n);
	return v[n % 8] + ((u64)v & 31);
}

/* Variable arguments. */
apart static u64 sum_of(int n, ...) {
	__builtin_va_list ap;
	__builtin_va_start(ap, n);
	u64 sum = 0;
	for (int i = 0; i < n; i++) sum = sum * 3 + __builtin_va_arg(ap, u64);
	__builtin_va_end(ap);
	return sum;
}
apart static double mean_of(int n, ...) {
	__builtin_va_list ap;
	__builtin_va_start(ap, n);
	double sum = 0;
	for (int i = 0; i < n; i++) sum += __builtin_va_arg(ap, double);
	__builtin_va_end(ap);
	return sum;
}

/* Structures by value. */
struct big { u64 v[9]; };
struct pair { u64 a, b; };
apart static struct big make_big(u64 a) {
	struct big b;
	for (int i = 0; i < 9; i++) b.v[i] = a * i;
	return b;
}
apart static u64 take_big(struct big b, u64 i) { return b.v[i % 9] + b.v[(i + 3) % 9]; }
apart static struct pair make_pair(u64 a) { return (struct pair){leaf1(a), a ^ 5}; }

/* Recursion. */
apart static u64 fib(u64 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
apart static u64 ack(u64 m, u64 n) { return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1)); }
static u64 odd(u64 n);
apart static u64 even(u64 n) { return n == 0 ? 1 : odd(n - 1); }
apart static u64 odd(u64 n) { return n == 0 ? 0 : even(n - 1); }
apart static u64 deep(u64 n, u64 *trail) {
	volatile u64 here[3] = {n, n + 1, n + 2};
	if (n == 0) return trail[0];
	trail[0] += here[n % 3];
	return deep(n - 1, trail) + here[1];
}
struct node { struct node *left, *right; u64 key; };
apart static struct node *insert(struct node *t, u64 key) {
	if (!t) {
		t = malloc(sizeof *t);
		t->left = t->right = 0, t->key = key;
	} else if (key < t->key)
		t->left = insert(t->left, key);
	else
		t->right = insert(t->right, key);
	return t;
}
apart static u64 walk(struct node *t, u64 depth, u64 (*visit)(u64, u64)) {
	return t ? walk(t->left, depth + 1, visit) * 31 + visit(t->key, depth) + walk(t->right, depth + 1, visit) * 17 : 1;
}
apart static void drop(struct node *t) {
	if (!t) return;
	drop(t->left);
	drop(t->right);
	free(t);
}
apart static u64 visited(u64 key, u64 depth) { return key ^ depth << 7; }

/* Switches: jump tables, in the text or not; and a loop that jumps by a table of labels. */
apart static u64 dense(u64 n) {
	switch (n % 24) {
	case 0: return leaf1(n); case 1: return n ^ 7; case 2: return calls1(n) + 3; case 3: return n << 3;
	case 4: return leaf6(n, n, n, 1, 2, 3); case 5: return 99; case 6: return n * n; case 7: return ~n;
	case 8: case 9: return n / 3; case 10: return redzone(n); case 11: n += 4; /* and on */
	case 12: return n - 4; case 13: return calls2(n); case 14: return n | 1; case 15: return n & 0xff;
	case 16: return n % 5; case 17: return leaf0(); case 18: return n + 18; case 19: return n ^ n >> 3; case 20: return 20 * n;
	}
	return 1;
}
apart static u64 machine(const u8 *code, u64 x) {
	static const void *const op[] = {&&add, &&twice, &&call, &&less, &&stop};
	u64 sum = 0;
	goto *op[*code++];
add: x += 3; goto *op[*code++];
twice: x *= 2; goto *op[*code++];
call: sum ^= leaf1(x); goto *op[*code++];
less: x -= 1; if (x & 1) sum++; goto *op[*code++];
stop: return sum + x;
}

/* Tail calls; ones through pointers too. */
apart static u64 tail1(u64 a) { return leaf1(a + 1); }
apart static u64 tail2(u64 a, u64 b) {
	if (a > b) __attribute__((musttail)) return tail2(a - b, b);
	if (a & 1) __attribute__((musttail)) return calls4(b, a);
	return calls1(a) + leaf1(b);
}
apart static u64 tail_through(u64 (*volatile *f)(u64), u64 a) {
	u64 x = leaf1(a);
	if (x & 2) return f[x % 3](a);
	return f[(x + 1) % 3](x);
}

/* Prologues that are only needed on one way, and several returns. */
apart static u64 shrunk(u64 a, u64 *p) {
	if (!p) return 0;
	if (a < 3) return *p + a;
	u64 x = leaf1(a), y = calls2(x), z = leaf1(y);
	*p += x;
	if (z & 4) return leaf6(x, y, z, a, *p, 1);
	return x ^ y ^ z ^ leaf1(*p);
}
apart static u64 shrunk_loop(const u64 *p, u64 n, u64 limit) {
	for (u64 i = 0; i < n; i++) {
		if (p[i] % 64 > limit) {
			u64 s = leaf1(p[i]);
			for (u64 k = i; k < n && k < i + 3; k++) s += calls1(p[k]) ^ leaf1(s);
			return s;
		}
	}
	return n;
}
apart static int returns(u64 a) {
	if (a % 7 == 0) return 1;
	if (leaf1(a) % 5 == 0) return 2;
	if (a % 3 == 0) { calls1(a); return 3; }
	if (a % 2 == 0) return (int)leaf1(a) % 4;
	return 5;
}

/* Calls that do not return: the call is the last instruction of its function or of its path. */
static long buffer[64];
apart static void leave(u64 a) { longjmp(buffer, (int)(a & 7) + 1); }
apart static void leave_deep(u64 a) {
	volatile u64 v[300];
	v[a] = leaf1(a);
	if (a == 0) leave(v[0]);
	else leave_deep(a - 1);
}
apart static u64 jumps(u64 n) {
	volatile u64 sum = 0, i = 0;
	int how = setjmp(buffer);
	sum += how;
	if (i < n) {
		i++;
		leave_deep(i);
	}
	return sum + i;
}
apart static u64 checked(u64 a) {
	if (a == 12345678) abort();
	if (leaf1(a) == 12345678) exit(3);
	return a + 1;
}

/* Callbacks: the process's qsort and bsearch call us. */
apart static int by_value(const void *a, const void *b) {
	u64 x = *(const u64 *)a, y = *(const u64 *)b;
	return x < y ? -1 : x > y;
}
apart static int by_digits(const void *a, const void *b) {
	u64 x = leaf1(*(const u64 *)a) % 1000, y = leaf1(*(const u64 *)b) % 1000;
	return x != y ? x < y ? -1 : 1 : by_value(a, b);
}
apart static u64 sorted(u64 *p, u64 n) {
	u64 h = 1;
	qsort(p, n, 8, by_value);
	for (u64 i = 0; i < n; i++) mix(h, p[i]);
	qsort(p, n, 8, by_digits);
	for (u64 i = 0; i < n; i++) mix(h, p[i]);
	qsort(p, n, 8, by_value);
	u64 key = p[n / 2], *found = bsearch(&key, p, n, 8, by_value);
	return h + (found ? found - p : 0);
}

/* Work: checksums, a matrix, text, a sieve, a sort of our own. */
apart static u32 crc(const u8 *p, u64 n) {
	u32 c = ~0u;
	for (u64 i = 0; i < n; i++) {
		c ^= p[i];
		for (int k = 0; k < 8; k++) c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
	}
	return ~c;
}
apart static u64 matrix(u64 n) {
	u64 a[6][6], b[6][6], sum = 0;
	for (int i = 0; i < 6; i++)
		for (int k = 0; k < 6; k++) a[i][k] = n * i + k, b[i][k] = n + i * k;
	for (int i = 0; i < 6; i++)
		for (int k = 0; k < 6; k++) {
			u64 x = 0;
			for (int l = 0; l < 6; l++) x += a[i][l] * b[l][k];
			sum = sum * 3 + x;
		}
	return sum;
}
apart static double doubles(u64 n) {
	double v[8], sum = 0;
	for (int i = 0; i < 8; i++) v[i] = (double)((n + i) % 16);
	for (int i = 0; i < 8; i++) sum += flops(v[i], v[7 - i]) + mean_of(2, v[i], 1.0);
	return sum;
}
apart static u64 number(char *to, u64 v, u64 base) {
	char tmp[24];
	u64 n = 0;
	do tmp[n++] = "0123456789abcdef"[v % base];
	while (v /= base);
	for (u64 i = 0; i < n; i++) to[i] = tmp[n - 1 - i];
	to[n] = 0;
	return strlen(to);
}
apart static u64 text(u64 n) {
	char s[32];
	u64 h = 7;
	for (u64 base = 2; base <= 16; base += 7) {
		u64 len = number(s, n * 1000003 % 100000, base);
		mix(h, crc((u8 *)s, len));
	}
	return h;
}
apart static u64 sieve(u64 n) {
	u8 *p = malloc(n + 1);
	u64 count = 0;
	memset(p, 1, n + 1);
	for (u64 i = 2; i <= n; i++) {
		if (!p[i]) continue;
		count++;
		for (u64 k = i * i; k <= n; k += i) p[k] = 0;
	}
	free(p);
	return count;
}
apart static void quick(u64 *p, long lo, long hi) {
	while (lo < hi) {
		u64 pivot = p[(lo + hi) / 2];
		long i = lo, k = hi;
		while (i <= k) {
			while (p[i] < pivot) i++;
			while (p[k] > pivot) k--;
			if (i <= k) {
				u64 t = p[i];
				p[i++] = p[k], p[k--] = t;
			}
		}
		if (k - lo < hi - i) quick(p, lo, k), lo = i;
		else quick(p, i, hi), hi = k;
	}
}

struct growing { u64 *data, count, capacity; };
apart static void push(struct growing *g, u64 v) {
	if (g->count == g->capacity) {
		g->capacity = g->capacity ? g->capacity * 2 : 4;
		g->data = realloc(g->data, g->capacity * 8);
	}
	g->data[g->count++] = v;
}

static u64 (*volatile through[3])(u64) = {leaf1, calls1, calls2};

u64 run(long n) {
	u64 h = 14695981039346656037ul, v[64], seed = 42;
	struct growing list = {0, 0, 0};
	struct node *tree = 0;
	static const u8 code[] = {0, 1, 2, 3, 0, 2, 1, 1, 3, 2, 4};
	for (int i = 0; i < 64; i++) seed = seed * 6364136223846793005ul + 1442695040888963407ul, v[i] = seed >> 33;
	for (u64 i = 0; i < (u64)n; i++) {
		mix(h, leaf0() + leaf1(i) + calls1(i) + calls2(i) + calls4(i, h) + stackargs(i) + redzone(i));
		mix(h, pressure(v, i % 3 + 1));
		mix(h, aligned(i) + vla(i) + allocas(i % 3) + aligned_vla(i));
		mix(h, sum_of(3, i, i + 1, i + 2) + sum_of(9, i, h, (u64)1, (u64)2, (u64)3, (u64)4, (u64)5, (u64)6, (u64)7));
		mix(h, take_big(make_big(i), i) + make_pair(i).a + make_pair(h).b);
		mix(h, even(i) + odd(i) + dense(i) + dense(h) + machine(code, i));
		mix(h, tail1(i) + tail2(i * 7, 3) + tail_through(through, i));
		mix(h, shrunk(i, 0) + shrunk(i, &v[i % 64]) + shrunk_loop(v, 10, i * 8) + returns(i) + checked(i));
		mix(h, (u64)(doubles(i) * 64));
		if (i < 3) mix(h, matrix(i) + text(i));
		for (int k = 0; k < 6; k++) tree = insert(tree, v[(i * 6 + k) % 64]);
		push(&list, h);
	}
	for (u64 i = 0; i < sizeof clobbering / sizeof *clobbering; i++) mix(h, clobbering[i](i));
	u64 (*const rooms[])(u64) = {room100, room1000, room2000, room2040, room2048, room3000, room4096, room9000, room70000,
		room100_leaf, room1000_leaf, room2000_leaf, room2040_leaf, room2048_leaf, room3000_leaf, room4096_leaf, room9000_leaf, room70000_leaf};
	for (u64 i = 0; i < sizeof rooms / sizeof *rooms; i++) mix(h, rooms[i](i));
	mix(h, room_pressure(v, 5));
	mix(h, jumps((u64)n % 6));
	u64 trail[1] = {1};
	mix(h, deep(20, trail) + fib(9) + ack(2, 3));
	mix(h, walk(tree, 0, visited));
	drop(tree);
	mix(h, sorted(list.data, list.count));
	mix(h, sorted(v, 24));
	quick(v, 0, 63);
	for (int i = 0; i < 64; i++) mix(h, v[i]);
	mix(h, sieve(300));
	free(list.data);
	return h;
}

/* finish ends the process from here: the call is the last instruction. */
void finish(int status) { exit(status); }
