/* A chain of calls that ends in a store to address 0x10, and a second thread that is in a chain of its own. Each function notes
 * where it will return to and its CFA: what a backtrace has to find. It calls pthread_create and nothing else. */
typedef unsigned long u64;
int pthread_create(u64 *, const void *, void *(*)(void *), void *);

#define apart __attribute__((noinline))
struct { volatile u64 pc, cfa; } seen[8], seen_second[8];
volatile int calls, calls_second;
volatile long ticks;
#ifdef BLIND /* to note these things a function needs a frame pointer */
#define see(s) ((void)0)
#else
#define see(s) (seen##s[calls##s].pc = (u64)__builtin_return_address(0), seen##s[calls##s].cfa = (u64)__builtin_dwarf_cfa(), calls##s++)
#endif

apart void leaf(volatile int *p) { see(); *p = 7; }
apart int inner(volatile int *p, int a) {
	volatile int room[10];
	see();
	room[a % 10] = a;
	leaf(p);
	return room[a % 7] + *p;
}
apart int middle(volatile int *p, int a, int b) {
	see();
	int c = inner(p, a + b);
	return inner(p, c) + a * b;
}
apart int outer(int n) {
	see();
	return middle((volatile int *)0x10, n, n + 1) + 1;
}

apart void spin(void) {
	see(_second);
	for (;;) ticks++;
}
apart void *second(void *p) {
	see(_second);
	spin();
	return p;
}

u64 run(long n) {
	u64 thread;
	pthread_create(&thread, 0, second, 0);
	while (!ticks) ;
	see();
	return outer(n) + 1;
}
