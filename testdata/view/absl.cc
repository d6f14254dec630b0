// Containers and other values of Abseil. The program prints what a debugger must show for them.
#include "text.h"

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>
#include <absl/container/fixed_array.h>
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/container/inlined_vector.h>
#include <absl/container/node_hash_map.h>
#include <absl/container/node_hash_set.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/cord.h>
#include <absl/time/time.h>
#include <absl/types/span.h>

// Libraries of a newer Debian call what a newer C library has.
extern "C" {
__attribute__((weak)) long __isoc23_strtol(const char *s, char **end, int base) { return std::strtol(s, end, base); }
__attribute__((weak)) long long __isoc23_strtoll(const char *s, char **end, int base) { return std::strtoll(s, end, base); }
}

template <class T, size_t N> struct Text<absl::InlinedVector<T, N>> {
  static Out of(const absl::InlinedVector<T, N> &v) {
    return format("absl::InlinedVector of length %zu, capacity %zu", v.size(), v.capacity()) + (v.empty() ? "" : " = " + plain(v));
  }
};
template <class... T> struct Text<absl::flat_hash_map<T...>> {
  static Out of(const absl::flat_hash_map<T...> &v) { return with("absl::flat_hash_map", v, keyed(v)); }
};
template <class... T> struct Text<absl::node_hash_map<T...>> {
  static Out of(const absl::node_hash_map<T...> &v) { return with("absl::node_hash_map", v, keyed(v)); }
};
template <class... T> struct Text<absl::flat_hash_set<T...>> {
  static Out of(const absl::flat_hash_set<T...> &v) { return with("absl::flat_hash_set", v, numbered(v)); }
};
template <class... T> struct Text<absl::node_hash_set<T...>> {
  static Out of(const absl::node_hash_set<T...> &v) { return with("absl::node_hash_set", v, numbered(v)); }
};
template <class... T> struct Text<absl::btree_map<T...>> {
  static Out of(const absl::btree_map<T...> &v) { return with("absl::btree_map", v, keyed(v)); }
};
template <class... T> struct Text<absl::btree_multimap<T...>> {
  static Out of(const absl::btree_multimap<T...> &v) { return with("absl::btree_multimap", v, keyed(v)); }
};
template <class... T> struct Text<absl::btree_set<T...>> {
  static Out of(const absl::btree_set<T...> &v) { return with("absl::btree_set", v, numbered(v)); }
};
template <> struct Text<absl::Duration> {
  static Out of(absl::Duration v) { return absl::FormatDuration(v); }
};

struct Large {
  long a[12];
};
template <> struct Text<Large> {
  static Out of(const Large &v) { return "{a = {" + text(v.a[0]) + ", 0 <repeats 11 times>}}"; }
};

__attribute__((noinline)) void stop() { asm volatile("" : : : "memory"); }

static void containers() {
  absl::flat_hash_map<int, int> f0, f1{{1, 2}}, f3{{1, 2}, {3, 4}, {5, 6}}, f_many;
  for (int i = 0; i < 10000; i++) f_many[i] = -i;
  for (int i = 0; i < 10000; i += 3) f_many.erase(i);
  absl::flat_hash_map<std::string, std::vector<std::string>> fv{{"k", {"v", "w"}}}, fv2{{"k", {"v", "w"}}, {"l", {}}};
  absl::flat_hash_set<std::string> s0, s1{"x"}, s3{"x", "y", "z"};
  absl::flat_hash_set<char> sc{'a'};
  absl::node_hash_map<int, std::string> n0, n1{{1, "a"}}, n2{{1, "a"}, {2, "b"}};
  absl::node_hash_set<int> ns{1, 2, 3}, ns1{7};
  absl::btree_map<int, int> b0, b1{{1, 2}}, b_many;
  for (int i = 0; i < 10000; i++) b_many[i * 7 % 10000] = i;
  absl::btree_map<std::string, absl::btree_map<int, std::string>> bb{{"a", {{1, "x"}, {2, "y"}}}, {"b", {}}};
  absl::btree_multimap<int, char> bm{{1, 'a'}, {1, 'b'}};
  absl::btree_set<std::string> bs;
  for (int i = 0; i < 500; i++) bs.insert(std::to_string(i));
  absl::btree_set<char> bc{'a', 'b'};
  absl::btree_map<int, Large> large;
  for (int i = 0; i < 100; i++) large[i] = Large{{i + 1}};
  absl::InlinedVector<int, 4> v0, v3{1, 2, 3}, v6{1, 2, 3, 4, 5, 6};
  absl::InlinedVector<std::string, 1> vs{"one", "two"}, vs1{"one"};
  absl::FixedArray<int> a3{1, 2, 3};
  std::vector<int> base{1, 2, 3};
  absl::Span<int> span(base);
  absl::Span<const int> span0;
  SAY(f0); SAY(f1); SAY(f3); SAY(f_many); SAY(fv); SAY(fv2); SAY(s0); SAY(s1); SAY(s3); SAY(sc); SAY(n0); SAY(n1); SAY(n2); SAY(ns);
  SAY(ns1); SAY(b0); SAY(b1); SAY(b_many); SAY(bb); SAY(bm); SAY(bs); SAY(bc); SAY(large); SAY(v0); SAY(v3); SAY(v6); SAY(vs); SAY(vs1);
  SAYS(a3, "absl::FixedArray of length 3 = {1, 2, 3}");
  SAYS(span, "absl::Span of length 3 = {1, 2, 3}");
  SAYS(span0, "absl::Span of length 0");
  stop(); // containers
}

static void others() {
  absl::Status ok, cancelled = absl::Status(absl::StatusCode::kCancelled, ""), missing = absl::NotFoundError("no such file");
  absl::StatusOr<int> value = 5, failed = absl::InternalError("broken");
  absl::StatusOr<std::string> text_value = std::string("text");
  absl::Duration d0, d1 = absl::Seconds(1.5), d2 = absl::Hours(30) + absl::Minutes(5), d3 = absl::Nanoseconds(1500),
                 d4 = -absl::Milliseconds(2500), d5 = absl::InfiniteDuration(), d6 = -absl::InfiniteDuration(), d7 = absl::Milliseconds(3),
                 d8 = absl::Nanoseconds(1) / 4, d9 = -absl::Microseconds(7), d10 = absl::Hours(1) + absl::Nanoseconds(1);
  absl::Time t0, t1 = absl::FromUnixMillis(1582938123250), t2 = absl::InfiniteFuture(), t3 = absl::FromUnixSeconds(-1);
  absl::Cord c0, c1("short"), c2("a text that is too long for the object itself"), c3 = c2, c4, external;
  c3.Append(c2), c3.Prepend("begin: ");
  for (int i = 0; i < 300; i++) c4.Append(absl::Cord(std::string(5000, char('a' + i % 26))));
  Out whole(c4.Flatten());
  c4 = absl::Cord();
  for (int i = 0; i < 5000; i++) c4.Append(std::to_string(i % 10));
  absl::Cord sub = c2.Subcord(7, 30);
  external = absl::MakeCordFromExternal("a constant text that is outside of the object", [] {});
  SAYS(ok, "OK"); SAYS(cancelled, "CANCELLED"); SAYS(missing, "NOT_FOUND: \"no such file\"");
  SAYS(value, "absl::StatusOr<int> = {[value] = 5}");
  SAYS(failed, "absl::StatusOr<int> INTERNAL: \"broken\"");
  SAYS(text_value, "absl::StatusOr<std::string> = {[value] = \"text\"}");
  SAY(d0); SAY(d1); SAY(d2); SAY(d3); SAY(d4); SAY(d5); SAY(d6); SAY(d7); SAY(d8); SAY(d9); SAY(d10);
  SAYS(t0, "1970-01-01 00:00:00"); SAYS(t1, "2020-02-29 01:02:03.25"); SAYS(t2, "infinite-future"); SAYS(t3, "1969-12-31 23:59:59");
  SAYS(c0, "\"\""); SAYS(c1, "\"short\""); SAYS(c2, ::quoted(std::string(c2))); SAYS(c3, ::quoted(std::string(c3)));
  SAYS(sub, ::quoted(std::string(sub))); SAYS(external, ::quoted(std::string(external)));
  SAYS(c4, ::quoted(std::string(c4)).substr(0, 200) + "…");
  stop(); // others
}

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  containers();
  others();
}
