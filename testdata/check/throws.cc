// An exception through twenty frames with destructors, some of which are in between caught and thrown on.
#include <cstdio>
#include <stdexcept>
#include <string>

static int destroyed;

struct Guard {
	std::string name;
	explicit Guard(int k) : name(k, 'x') {}
	~Guard() { destroyed += name.size(); }
};

__attribute__((noinline)) static int down(int k) {
	Guard g(k);
	if (k == 0)
		throw std::runtime_error("bottom");
	if (k % 7 == 0) {
		try {
			return down(k - 1) + 1;
		} catch (const std::exception &) {
			destroyed++;
			throw;
		}
	}
	return down(k - 1) + int(g.name.size());
}

int main() {
	for (int i = 0; i < 3; i++) {
		try {
			down(20);
		} catch (const std::exception &e) {
			std::printf("%s %d\n", e.what(), destroyed);
		}
	}
}
