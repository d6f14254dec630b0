// Two inlined calls of one function, one right after the other, at one place of the source.
volatile int sink;

struct Guard {
	int v;
	explicit Guard(int n) : v(n) {}
	__attribute__((always_inline)) ~Guard() {
		sink = v;
		sink = 2;
	}
};

__attribute__((noinline)) int work(int n) {
	Guard a(n);
	Guard b(n + 1);
	sink = n;
	return n;
}

int main() { return work(3) == 0; }
