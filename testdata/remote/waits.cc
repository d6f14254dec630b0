// Threads with deep stacks of virtual calls, through functions of the C library; then "ready", and they wait, or one aborts.
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

static std::mutex lock;
static std::condition_variable all_here;
static int here, wanted;
static bool dies;

struct Step {
	virtual ~Step() {}
	virtual int run(int n) = 0;
};

static int deep(Step *s, int n);

struct Plain : Step {
	int run(int n) override { volatile char pad[100]; pad[n % 100] = 1; return deep(this, n - 1) + pad[n % 100]; }
};

static thread_local int left;
static thread_local Step *step;
static int compare(const void *, const void *) {
	int n = left;
	left = 0;
	return n ? deep(step, n - 1) : 0;
}

struct Sorting : Step {
	int run(int n) override {
		int two[2] = {1, 2};
		left = n;
		step = this;
		qsort(two, 2, sizeof *two, compare);
		return two[0];
	}
};

static void wait_forever() {
	std::unique_lock<std::mutex> l(lock);
	if (++here == wanted && write(1, "ready\n", 6) != 6)
		abort();
	if (here == wanted && dies)
		abort();
	all_here.wait(l, [] { return false; });
}

__attribute__((noinline)) static int deep(Step *s, int n) {
	if (n <= 0) {
		wait_forever();
		return 0;
	}
	std::function<int()> f = [=] { return s->run(n); };
	return f() + 1;
}

int main(int argc, char **argv) {
	int threads = argc > 1 ? atoi(argv[1]) : 4, depth = argc > 2 ? atoi(argv[2]) : 10;
	wanted = threads;
	dies = argc > 3;
	std::vector<std::thread> list;
	for (int i = 0; i < threads; i++)
		list.emplace_back([=] {
			Plain p;
			Sorting s;
			deep(i % 2 ? static_cast<Step *>(&s) : &p, depth);
		});
	for (auto &t : list)
		t.join();
}
