// Objects that are not yet constructed or already destroyed: memory that was filled with one byte before,
// and objects after their destructor. The program prints what a debugger must show, or the start of it.
#include "text.h"

template <class T> union Slot {
  unsigned char bytes[sizeof(T)];
  T value;
  Slot() {}
  ~Slot() {}
};

__attribute__((noinline)) void stop() { asm volatile("" : : : "memory"); }

#define FILL(type, name)                                                                                                    \
  static Slot<type> name##_00, name##_aa, name##_ff, name##_01;                                                              \
  std::fill_n(name##_aa.bytes, sizeof(type), 0xaa), std::fill_n(name##_ff.bytes, sizeof(type), 0xff);                         \
  std::fill_n(name##_01.bytes, sizeof(type), 0x01)

#define BAD(name, kind)                                                                                                     \
  std::printf("%s.value\t<not a valid %s: …\n", #name, kind)

#define ALL_BAD(type, name, kind)                                                                                           \
  FILL(type, name);                                                                                                         \
  BAD(name##_aa, kind), BAD(name##_ff, kind), BAD(name##_01, kind)

#ifdef _LIBCPP_VERSION
#define STRING "std::basic_string"
#elif _GLIBCXX_USE_CXX11_ABI
#define STRING "std::__cxx11::basic_string"
#else
#define STRING "std::basic_string"
#endif

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  ALL_BAD(std::string, s, STRING);
  ALL_BAD(std::vector<int>, v, "std::vector");
  ALL_BAD(std::vector<std::string>, vs, "std::vector");
  ALL_BAD(std::vector<bool>, vb, "std::vector");
  ALL_BAD(std::deque<int>, d, "std::deque");
  ALL_BAD(std::list<int>, l, LIST);
  ALL_BAD(std::forward_list<int>, f, "std::forward_list");
  using Map = std::map<int, int>;
  using Table = std::unordered_map<int, int>;
  ALL_BAD(Map, m, "std::map");
  ALL_BAD(std::set<int>, st, "std::set");
  ALL_BAD(Table, u, "std::unordered_map");
  ALL_BAD(std::string_view, sv, "std::basic_string_view");
  ALL_BAD(std::shared_ptr<int>, sh, "std::shared_ptr");
  FILL(std::optional<int>, o); // 0x01 is true
  BAD(o_aa, "std::optional"), BAD(o_ff, "std::optional");
  // Zeros are an empty vector, but no empty list or tree.
  std::printf("v_00.value\tstd::vector of length 0, capacity 0\n");
  BAD(l_00, LIST), BAD(m_00, "std::map"), BAD(st_00, "std::set");
#ifndef _LIBCPP_VERSION
  BAD(s_00, STRING), BAD(d_00, "std::deque"), BAD(u_00, "std::unordered_map");
#endif
  stop(); // early
}
