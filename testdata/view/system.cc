// Error codes, string streams, iterators at the end of lists and maps, and newer classes of the standard library.
#include "text.h"

#include <cerrno>
#include <future>
#include <latch>
#include <semaphore>
#include <sstream>
#include <stop_token>
#include <system_error>

struct Own : std::error_category {
  const char *name() const noexcept override { return "own"; }
  std::string message(int) const override { return "?"; }
};

template <class E> Out code(const char *what, const E &e) {
  Out out = what + (Out(" ") + e.category().name()) + ":" + std::to_string(e.value());
  bool known = e.category() == std::generic_category() || e.category() == std::system_category();
  return known && e.value() ? out + " \"" + e.message() + "\"" : out;
}
template <> struct Text<std::error_code> {
  static Out of(const std::error_code &e) { return code("std::error_code", e); }
};
template <> struct Text<std::error_condition> {
  static Out of(const std::error_condition &e) { return code("std::error_condition", e); }
};

__attribute__((noinline)) void stop() { asm volatile("" : : : "memory"); }

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  Own own;
  std::error_code e0, e1 = std::make_error_code(std::errc::invalid_argument), e2(ENOENT, std::system_category()),
                  e3 = std::make_error_code(std::future_errc::no_state), e4 = std::make_error_code(std::io_errc::stream), e5(1, own),
                  e6(ENOTRECOVERABLE, std::generic_category());
  std::error_condition c0, c1 = std::errc::timed_out;
  std::stringstream s0, s1;
  s1 << "text " << 5;
  std::stringstream rewound("a longer text");
  rewound.seekp(2), rewound << "X";
  std::ostringstream o1;
  o1 << "out " << 1.5;
  std::istringstream i1("in \"text\"");
  Out word;
  i1 >> word;
  std::wstringstream wide;
  wide << L"wide";
  std::list<int> l{10, 20, 30}, l0;
  std::list<long> odd{3, 7, 8};
  auto first = l.begin(), end = l.end(), end0 = l0.end();
  auto odd_first = odd.begin(), odd_second = std::next(odd.begin()), odd_end = odd.end();
  auto last = l.rbegin(), rend = l.rend();
  std::map<int, int> m{{1, 2}, {3, 4}, {5, 6}};
  for (int i = 6; i < 100; i++) m[i] = -i;
  auto m_last = m.rbegin(), m_middle = std::make_reverse_iterator(m.find(50)), m_rend = m.rend();
  std::latch latch(3);
  std::counting_semaphore<10> semaphore(4);
  SAY(e0); SAY(e1); SAY(e2); SAY(e3); SAY(e4); SAY(e6); SAY(c0); SAY(c1);
  SAYS(e5, "std::error_code Own:1");
  SAYS(s0, "std::stringstream \"\""); SAYS(s1, "std::stringstream \"text 5\""); SAYS(rewound, "std::stringstream " + ::quoted(rewound.str()));
  SAYS(o1, "std::ostringstream \"out 1.5\""); SAYS(i1, "std::istringstream \"in \\\"text\\\"\"");
  SAYS(wide, "std::stringstream L\"wide\"");
  SAYS(first, "10"); SAYS(end, "non-dereferenceable iterator for std::list"); SAYS(end0, "non-dereferenceable iterator for std::list");
  // An element that looks like the number of elements.
  SAYS(odd_first, "3, or the end"); SAYS(odd_second, "7"); SAYS(odd_end, "3, or the end");
  SAYS(last, "30"); SAYS(rend, "non-dereferenceable iterator for std::list");
#ifndef _LIBCPP_VERSION
  SAYS(m_last, "{first = 99, second = -99}"); SAYS(m_middle, "{first = 49, second = -49}");
  SAYS(m_rend, "non-dereferenceable iterator for associative container");
#else
  (void)m_last, (void)m_middle, (void)m_rend;
#endif
  SAYS(latch, "std::latch (3 left)"); SAYS(semaphore, "std::counting_semaphore (4)");
  stop();
}
