// Exceptions that leave the calls which a step is over. The first argument names the function that runs.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

static volatile int depth;

static void thrower(int n) {
  if (n > 0)
    throw std::runtime_error("x");
  depth++;
}

static void middle(int n) {
  thrower(n);
  depth += 2;
}

static void same() {
  try {
    middle(1);
    depth++;
  } catch (const std::exception &e) {
    depth += 10;
  }
  depth++;
}

static void caller() {
  try {
    depth++;
    middle(1);
  } catch (int) {
    depth = 1;
  } catch (...) {
    depth = 2;
  }
  depth++;
}

static void rethrower() {
  try {
    middle(1);
  } catch (std::exception &) {
    throw;
  }
}

static void rethrow() {
  try {
    rethrower();
  } catch (std::exception &e) {
    depth--;
  }
  depth++;
}

struct Cleanup {
  ~Cleanup() { depth++; }
};

static void cleans() {
  Cleanup c;
  middle(1);
}

static void cleanup() {
  try {
    cleans();
  } catch (...) {
    depth--;
  }
  depth++;
}

static void inside() {
  try {
    middle(1);
  } catch (...) {
    depth++;
  }
}

static void deeper() {
  inside();
  depth++;
  inside(); inside();
  depth++;
}

static void loops() {
  for (int i = 0; i < 3; i++) {
    try { middle(i % 2); } catch (...) { depth++; }
    depth++;
  }
  depth++;
}

static void final() noexcept {
  middle(1);
}

static void noexcepts() {
  try {
    final();
  } catch (...) {
    depth++;
  }
}

static void uncaught() {
  middle(1);
  depth++;
}

static int recurse(int n) {
  if (n == 0)
    throw n;
  try {
    recurse(n - 1);
  } catch (int) {
    if (n < 3)
      throw;
  }
  return n;
}

static void recursion() {
  recurse(5);
  depth++;
}

static std::atomic<bool> started, enough;

static void storm_thrower() {
  started = true;
  while (!enough) {
    try {
      middle(1);
    } catch (...) {
      depth++;
    }
  }
}

static void storm(int rounds) {
  std::vector<std::thread> all;
  for (int i = 0; i < 4; i++)
    all.emplace_back(storm_thrower);
  while (!started)
    ;
  for (int i = 0; i < rounds; i++) {
    try {
      middle(1);
    } catch (...) {
      depth++; // storm
    }
  }
  enough = true;
  for (auto &t : all)
    t.join();
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)();
  } cases[] = {{"same", same}, {"caller", caller}, {"rethrow", rethrow}, {"cleanup", cleanup}, {"deeper", deeper}, {"loops", loops},
               {"noexcepts", noexcepts}, {"uncaught", uncaught}, {"recursion", recursion}};
  for (auto &c : cases)
    if (argc > 1 && !strcmp(argv[1], c.name))
      c.run();
  if (argc > 1 && !strcmp(argv[1], "storm"))
    storm(10000000);
  return 0;
}
