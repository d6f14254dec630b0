// Returns from the middle of functions whose locals have destructors: each line that is marked is reached
// as often as the count says which the program itself keeps.
#include <stdio.h>

static int reached[4];

struct Guard {
	int v;
	explicit Guard(int n) : v(n) {}
	Guard(const Guard &o) : v(o.v) {}
	~Guard() { v = -1; }
};

static int use(const Guard &g) { return g.v; }

static int early(int n) {
	Guard a(1);
	if (n == 1) {
		reached[0]++;
		return use(a) + use(Guard(5)); // here: 0
	}
	Guard b(2);
	for (int i = 0; i < n; i++) {
		Guard c(i);
		if (i == 3) {
			reached[1]++;
			return use(c) + use(b); // here: 1
		}
	}
	Guard d(4);
	reached[2]++;
	return use(a) + use(b) + use(d); // here: 2
}

static Guard made(int n) {
	Guard first(n);
	Guard second(n + 1);
	reached[3]++;
	return n % 2 ? first : second; // here: 3
}

int main() {
	int sum = 0;
	for (int i = 1; i < 6; i++)
		sum += early(i) + made(i).v;
	printf("%d\n", sum);
	return reached[0] != 1; // end
}
