// Lines that are nothing but an inlined call.
volatile int sink;

static inline __attribute__((always_inline)) void bump(void) {
	sink++;
	sink += 2;
}

static inline __attribute__((always_inline)) void twice(void) {
	bump();
	bump();
}

__attribute__((noinline)) int work(int n) {
	sink = n;
	bump();
	sink = n + 1;
	twice();
	sink = n + 2;
	return sink;
}

int main(void) { return work(3) == 0; }
