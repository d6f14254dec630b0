// Parameters whose values at entry the caller's call site tells, or does not.
int sink, source = 40;

__attribute__((noinline)) int inner(int a, int b, int c) {
	int local = a + b;
	a = sink * 2;
	__asm__ volatile("" : "+r"(a) : : "memory");
	sink = a + local + c; // stop
	__asm__ volatile("" : : : "rdi", "rsi", "rdx", "memory");
	return sink;
}

__attribute__((noinline)) int outer(int x) {
	__asm__ volatile("" : : : "memory");
	int r = inner(7, source + 1, x * 3);
	return r + 1;
}

int main(int argc, char **argv) { return outer(argc) == 99; }
