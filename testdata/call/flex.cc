// A flexible array member, and "this" of both kinds of methods.
#include <cstdlib>

struct Flex {
	int n;
	int data[];
};

struct Self {
	int a;
	int get() const { return a; }
	int put(int v) {
		a = v; // stop
		return a;
	}
};

Flex *flex;

int main() {
	flex = (Flex *)malloc(sizeof(Flex) + 12);
	flex->n = 3;
	flex->data[0] = 1, flex->data[1] = 2, flex->data[2] = 3;
	Self s{4};
	s.put(5);
	return s.get() + flex->n;
}
