// Dies deep in recursion, virtual calls and callbacks, in a thread's signal handler.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <pthread.h>
#include <unistd.h>
#include <vector>

struct Node {
  virtual ~Node() {}
  virtual int visit(int depth, const std::function<int(int)> &leaf) = 0;
};

struct Leaf : Node {
  int visit(int depth, const std::function<int(int)> &leaf) override { return leaf(depth) + 1; }
};

struct Pair : Node {
  std::unique_ptr<Node> left, right;
  int visit(int depth, const std::function<int(int)> &leaf) override {
    int l = left->visit(depth + 1, leaf);
    return l + right->visit(depth + 1, leaf);
  }
};

static std::unique_ptr<Node> tree(int n) {
  if (n == 0)
    return std::make_unique<Leaf>();
  auto p = std::make_unique<Pair>();
  p->left = tree(n - 1);
  p->right = tree(0);
  return p;
}

volatile int *nowhere;
static int mode;

__attribute__((noinline)) int factorial(int n) {
  volatile int mine = n;
  if (n <= 1) {
    if (mode == 1)
      abort();
    *nowhere = n;
  }
  return mine * factorial(n - 1);
}

static int compare(const void *a, const void *b) {
  static int calls;
  if (++calls == 20)
    return factorial(6);
  return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

__attribute__((noinline)) int sorted(int depth) {
  int v[40];
  for (int i = 0; i < 40; i++)
    v[i] = (i * 17 + depth) % 40;
  qsort(v, 40, sizeof *v, compare);
  return v[3];
}

extern "C" void handler(int) {
  mode = 1;
  factorial(3);
}

static void *worker(void *) {
  auto t = tree(5);
  int sum = t->visit(0, [&](int d) { return sorted(d); });
  return reinterpret_cast<void *>(static_cast<long>(sum));
}

int main() {
  struct sigaction sa = {};
  sa.sa_handler = handler;
  sigaction(SIGSEGV, &sa, nullptr);
  pthread_t p;
  pthread_create(&p, nullptr, worker, nullptr);
  pthread_join(p, nullptr);
  return 0;
}
