// Containers whose memory is damaged: a few words of each container and of its first nodes are replaced.
// All is the same in each run, apart from addresses.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

constexpr int count = 2000;
std::minstd_rand random_number(1);

template <class T> union Slot {
  T value;
  uint64_t words[(sizeof(T) + 7) / 8];
  Slot() : value() {}
  ~Slot() {}
};

Slot<std::vector<int>> vectors[count];
Slot<std::vector<std::string>> texts[count];
Slot<std::string> strings[count];
Slot<std::map<int, std::string>> maps[count];
Slot<std::set<int>> sets[count];
Slot<std::unordered_map<int, int>> tables[count];
Slot<std::list<int>> lists[count];
Slot<std::forward_list<int>> forwards[count];
Slot<std::deque<int>> deques[count];
// not constructed: what the memory had before
Slot<std::string> none[8][6];

static uint64_t nonsense(uint64_t *near) {
  static const uint64_t words[] = {0, 1, 2, 200, 100000, 1ull << 20, 1ull << 32, 1ull << 40, 1ull << 62, ~0ull, ~0ull / 2, 0xaaaaaaaaaaaaaaaa};
  switch (random_number() % 6) {
  case 0: return words[random_number() % (sizeof words / sizeof *words)];
  case 1: return uint64_t(random_number()) << 32 | random_number();
  case 2: return *near + random_number() % 64 - 32;
  case 3: return uint64_t(near);
  case 4: return uint64_t(near) + 8 * (random_number() % 9);
  default: return near[random_number() % 3];
  }
}

// damage replaces words of an object, and of what its words point to.
template <class T> static void damage(Slot<T> &s) {
  constexpr size_t n = sizeof s.words / 8;
  for (unsigned k = random_number() % 3 + 1; k > 0; k--) {
    uint64_t *at = &s.words[random_number() % n];
    for (unsigned deep = random_number() % 4; deep > 0; deep--) {
      uint64_t to = *at;
      // A heap of ours: what was allocated before the damage.
      extern uint64_t heap_from, heap_to;
      if (to < heap_from || to > heap_to - 40 || to % 8) break;
      at = (uint64_t *)to + random_number() % 4;
    }
    *at = nonsense(at);
  }
}
uint64_t heap_from, heap_to;

__attribute__((noinline)) void stop() { asm volatile("" : : : "memory"); }

int main() {
  heap_from = (uint64_t)new char[16];
  for (int i = 0; i < count; i++) {
    for (unsigned n = random_number() % 20; n > 0; n--) {
      int x = random_number() % 1000;
      vectors[i].value.push_back(x);
      texts[i].value.push_back(std::to_string(x));
      strings[i].value += char('a' + x % 26);
      strings[i].value += "long";
      maps[i].value[x] = "value";
      sets[i].value.insert(x);
      tables[i].value[x] = x;
      lists[i].value.push_back(x);
      forwards[i].value.push_front(x);
      deques[i].value.push_back(x);
    }
  }
  heap_to = (uint64_t)new char[16];
  for (int i = 0; i < count; i++) {
    damage(vectors[i]), damage(texts[i]), damage(strings[i]), damage(maps[i]), damage(sets[i]), damage(tables[i]);
    damage(lists[i]), damage(forwards[i]), damage(deques[i]);
  }
  stop();
  _Exit(0);
}
