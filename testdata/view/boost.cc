// Containers and other values of Boost. The program prints what a debugger must show for them.
#include "text.h"

#include <boost/any.hpp>
#include <boost/array.hpp>
#include <boost/circular_buffer.hpp>
#include <boost/container/deque.hpp>
#include <boost/container/flat_map.hpp>
#include <boost/container/flat_set.hpp>
#include <boost/container/list.hpp>
#include <boost/container/map.hpp>
#include <boost/container/set.hpp>
#include <boost/container/slist.hpp>
#include <boost/container/small_vector.hpp>
#include <boost/container/stable_vector.hpp>
#include <boost/container/static_vector.hpp>
#include <boost/container/string.hpp>
#include <boost/container/vector.hpp>
#include <boost/date_time/gregorian/gregorian_types.hpp>
#include <boost/date_time/posix_time/posix_time_types.hpp>
#include <boost/dynamic_bitset.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>
#include <boost/intrusive/slist.hpp>
#include <boost/logic/tribool.hpp>
#include <boost/multi_array.hpp>
#include <boost/optional.hpp>
#include <boost/rational.hpp>
#include <boost/smart_ptr.hpp>
#include <boost/unordered_map.hpp>
#include <boost/unordered_set.hpp>
#include <boost/uuid/uuid.hpp>
#include <boost/variant.hpp>
#include <boost/variant2/variant.hpp>
#include <boost/version.hpp>
#if BOOST_VERSION >= 108100 // before, its class needs the library
#include <boost/filesystem/path.hpp>
#endif
#if BOOST_VERSION >= 108100
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#endif
#if BOOST_VERSION >= 108200
#include <boost/unordered/unordered_node_map.hpp>
#include <boost/unordered/unordered_node_set.hpp>
#endif

namespace bc = boost::container;
namespace bi = boost::intrusive;

template <class C> Out sized(const char *what, const C &c, Out items) {
  return what + format(" of length %zu", size_t(c.size())) + (c.empty() ? "" : " = " + items);
}
template <class C> Out capable(const char *what, const C &c) {
  return what + format(" of length %zu, capacity %zu", size_t(c.size()), size_t(c.capacity())) + (c.empty() ? "" : " = " + plain(c));
}
template <class T> struct Text<boost::optional<T>> {
  static Out of(const boost::optional<T> &v) {
    Out out = "boost::optional<" + name<T>() + ">";
    return v ? out + " = {[contained value] = " + text(*v) + "}" : out + " [no contained value]";
  }
};
template <class... T> Out names() {
  Out out, comma;
  ((out += comma + name<T>(), comma = ", "), ...);
  return out;
}
template <class... T> struct Text<boost::variant<T...>> {
  static Out of(const boost::variant<T...> &v) {
    return "boost::variant<" + names<T...>() + ">" + format(" [index %d] = {", v.which()) +
           boost::apply_visitor([](const auto &x) { return text(x); }, v) + "}";
  }
};
template <class... T> struct Text<boost::variant2::variant<T...>> {
  static Out of(const boost::variant2::variant<T...> &v) {
    return "boost::variant2::variant<" + names<T...>() + ">" + format(" [index %zu] = {", v.index()) +
           boost::variant2::visit([](const auto &x) { return text(x); }, v) + "}";
  }
};
template <class T> struct Text<boost::circular_buffer<T>> {
  static Out of(const boost::circular_buffer<T> &v) { return capable("boost::circular_buffer", v); }
};
template <class T> struct Text<bc::vector<T>> {
  static Out of(const bc::vector<T> &v) { return capable("boost::container::vector", v); }
};
template <class T, size_t N> struct Text<bc::small_vector<T, N>> {
  static Out of(const bc::small_vector<T, N> &v) { return capable("boost::container::small_vector", v); }
};
template <class T, size_t N> struct Text<bc::static_vector<T, N>> {
  static Out of(const bc::static_vector<T, N> &v) { return capable("boost::container::static_vector", v); }
};
template <class T> struct Text<bc::stable_vector<T>> {
  static Out of(const bc::stable_vector<T> &v) { return sized("boost::container::stable_vector", v, plain(v)); }
};
template <class T> struct Text<bc::deque<T>> {
  static Out of(const bc::deque<T> &v) { return with("boost::container::deque", v, plain(v)); }
};
template <class T> struct Text<bc::list<T>> {
  static Out of(const bc::list<T> &v) { return with("boost::container::list", v, numbered(v)); }
};
template <class T> struct Text<bc::slist<T>> {
  static Out of(const bc::slist<T> &v) { return with("boost::container::slist", v, numbered(v)); }
};
template <> struct Text<bc::string> {
  static Out of(const bc::string &v) { return ::quoted(v); }
};
template <class... T> struct Text<bc::flat_map<T...>> {
  static Out of(const bc::flat_map<T...> &v) { return with("boost::container::flat_map", v, keyed(v)); }
};
template <class... T> struct Text<bc::flat_multimap<T...>> {
  static Out of(const bc::flat_multimap<T...> &v) { return with("boost::container::flat_multimap", v, keyed(v)); }
};
template <class... T> struct Text<bc::flat_set<T...>> {
  static Out of(const bc::flat_set<T...> &v) { return with("boost::container::flat_set", v, numbered(v)); }
};
template <class... T> struct Text<bc::map<T...>> {
  static Out of(const bc::map<T...> &v) { return with("boost::container::map", v, keyed(v)); }
};
template <class... T> struct Text<bc::set<T...>> {
  static Out of(const bc::set<T...> &v) { return with("boost::container::set", v, numbered(v)); }
};
template <class... T> struct Text<boost::unordered_map<T...>> {
  static Out of(const boost::unordered_map<T...> &v) { return with("boost::unordered_map", v, keyed(v)); }
};
template <class... T> struct Text<boost::unordered_multimap<T...>> {
  static Out of(const boost::unordered_multimap<T...> &v) { return with("boost::unordered_multimap", v, keyed(v)); }
};
template <class... T> struct Text<boost::unordered_set<T...>> {
  static Out of(const boost::unordered_set<T...> &v) { return with("boost::unordered_set", v, numbered(v)); }
};
#if BOOST_VERSION >= 108100
template <class... T> struct Text<boost::unordered_flat_map<T...>> {
  static Out of(const boost::unordered_flat_map<T...> &v) { return with("boost::unordered_flat_map", v, keyed(v)); }
};
template <class... T> struct Text<boost::unordered_flat_set<T...>> {
  static Out of(const boost::unordered_flat_set<T...> &v) { return with("boost::unordered_flat_set", v, numbered(v)); }
};
#endif
#if BOOST_VERSION >= 108200
template <class... T> struct Text<boost::unordered_node_map<T...>> {
  static Out of(const boost::unordered_node_map<T...> &v) { return with("boost::unordered_node_map", v, keyed(v)); }
};
template <class... T> struct Text<boost::unordered_node_set<T...>> {
  static Out of(const boost::unordered_node_set<T...> &v) { return with("boost::unordered_node_set", v, numbered(v)); }
};
#endif
template <class T, size_t N> struct Text<boost::array<T, N>> {
  static Out of(const boost::array<T, N> &v) { return sized("boost::array", v, plain(v)); }
};
template <> struct Text<boost::dynamic_bitset<>> {
  static Out of(const boost::dynamic_bitset<> &v) {
    Out items, comma;
    for (size_t i = 0; i < v.size(); i++) items += comma + (v[i] ? "true" : "false"), comma = ", ";
    return sized("boost::dynamic_bitset", v, "{" + items + "}");
  }
};

struct Counted {
  int refs = 0, x = 5;
};
void intrusive_ptr_add_ref(Counted *c) { c->refs++; }
void intrusive_ptr_release(Counted *c) { c->refs--; }

struct Hooked : bi::list_base_hook<> {
  int x;
  bi::set_member_hook<> in_set;
  bi::slist_member_hook<> in_slist;
  explicit Hooked(int x) : x(x) {}
  friend bool operator<(const Hooked &a, const Hooked &b) { return a.x < b.x; }
};

__attribute__((noinline)) void stop() { asm volatile("" : : : "memory"); }

static void sequences() {
  bc::vector<int> v0, v3{1, 2, 3}, many(10000);
  for (int i = 0; i < 10000; i++) many[i] = i * 3;
  v3.reserve(10);
  bc::vector<std::string> vs{"one", ""};
  bc::vector<bc::vector<int>> vv{{1}, {}, {2, 3}};
  bc::small_vector<int, 4> w0, w3{1, 2, 3}, w9{1, 2, 3, 4, 5, 6, 7, 8, 9};
  bc::static_vector<int, 5> x0, x3{1, 2, 3};
  bc::static_vector<std::string, 2> xs{"a"};
  bc::stable_vector<int> y0, y3{1, 2, 3};
  bc::stable_vector<std::string> ys{"one", "two"};
  bc::deque<int> d0, d3{1, 2, 3}, d_many;
  for (int i = 0; i < 3000; i++) d_many.push_back(i), d_many.push_front(-i);
  bc::list<int> l0, l3{1, 2, 3};
  bc::list<std::string> ls{"x"};
  bc::slist<int> sl0, sl3{1, 2, 3};
  bc::string s0, s1 = "x", s_long = "a text that is too long for the object itself";
  boost::circular_buffer<int> c0(3), c2(3), c5(3);
  boost::circular_buffer<std::string> cs(2);
  for (int i = 1; i <= 5; i++) c5.push_back(i);
  c2.push_back(1), c2.push_back(2), cs.push_back("one"), cs.push_back("two"), cs.push_back("three");
  boost::array<int, 3> a3{{1, 2, 3}};
  boost::dynamic_bitset<> b0, b5(5, 0b10110), b70(70);
  for (int i = 0; i < 70; i += 3) b70[i] = true;
  SAY(v0); SAY(v3); SAY(many); SAY(vs); SAY(vv); SAY(w0); SAY(w3); SAY(w9); SAY(x0); SAY(x3); SAY(xs); SAY(y0); SAY(y3); SAY(ys);
  SAY(d0); SAY(d3); SAY(d_many); SAY(l0); SAY(l3); SAY(ls); SAY(sl0); SAY(sl3); SAY(s0); SAY(s1); SAY(s_long);
  SAY(c0); SAY(c2); SAY(c5); SAY(cs); SAY(a3); SAY(b0); SAY(b5); SAY(b70);
  stop(); // sequences
}

static void associative() {
  bc::flat_map<int, std::string> fm0, fm2{{2, "b"}, {1, "a"}};
  bc::flat_map<std::string, bc::vector<int>> fmv{{"k", {1, 2}}};
  bc::flat_multimap<int, int> fmm{{1, 2}, {1, 3}};
  bc::flat_set<int> fs0, fs3{3, 1, 2};
  bc::map<int, int> m0, m3{{1, 10}, {2, 20}, {3, 30}}, m_many;
  for (int i = 0; i < 10000; i++) m_many[i * 7 % 10000] = i;
  bc::map<std::string, std::vector<int>> mv{{"a", {1}}, {"b", {}}};
  bc::set<std::string> s0, s2{"b", "a"};
  boost::unordered_map<int, int> u0, u1{{1, 2}}, u_many;
  for (int i = 0; i < 10000; i++) u_many[i] = -i;
  boost::unordered_map<std::string, std::vector<std::string>> uv{{"k", {"v", "w"}}, {"l", {}}};
  boost::unordered_multimap<int, char> um{{1, 'a'}, {1, 'b'}, {2, 'c'}};
  boost::unordered_set<std::string> us0, us{"x", "y", "z"};
  SAY(fm0); SAY(fm2); SAY(fmv); SAY(fmm); SAY(fs0); SAY(fs3); SAY(m0); SAY(m3); SAY(m_many); SAY(mv); SAY(s0); SAY(s2);
  SAY(u0); SAY(u1); SAY(u_many); SAY(uv); SAY(um); SAY(us0); SAY(us);
#if BOOST_VERSION >= 108100
  boost::unordered_flat_map<int, int> p0, p1{{1, 2}}, p_many;
  for (int i = 0; i < 10000; i++) p_many[i] = -i;
  for (int i = 0; i < 10000; i += 3) p_many.erase(i);
  boost::unordered_flat_map<std::string, std::vector<std::string>> pv{{"k", {"v", "w"}}, {"l", {}}};
  boost::unordered_flat_set<std::string> ps0, ps{"x", "y", "z"};
  SAY(p0); SAY(p1); SAY(p_many); SAY(pv); SAY(ps0); SAY(ps);
#endif
#if BOOST_VERSION >= 108200
  boost::unordered_node_map<int, std::string> n0, n2{{1, "a"}, {2, "b"}};
  boost::unordered_node_set<int> ns{1, 2, 3};
  SAY(n0); SAY(n2); SAY(ns);
#endif
  stop(); // associative
}

static void others() {
  boost::optional<int> o0, o1 = 5;
  boost::optional<std::string> os0, os = std::string("text");
  boost::optional<std::vector<int>> ov = std::vector<int>{1, 2};
  boost::variant<int, std::string, double> va = 1, vb = std::string("text"), vc = 2.5;
  boost::variant2::variant<int, std::string, double> wa = 1, wb = std::string("text"), wc = 2.5;
  boost::variant2::variant<int, double> wd = 7, we = 0.5;
  boost::any y0, y1 = 5, ys = std::string("text"), yv = std::vector<int>{1};
  boost::shared_ptr<int> h0, h1 = boost::make_shared<int>(5), h2(new int(6)), h3 = h2;
  boost::weak_ptr<int> w0, w2 = h2, expired;
  {
    auto gone = boost::make_shared<int>(1);
    expired = gone;
  }
  boost::scoped_ptr<int> q0, q1(new int(1));
  boost::scoped_array<int> qa(new int[2]{1, 2});
  Counted counted;
  boost::intrusive_ptr<Counted> i0, i1(&counted);
  boost::tribool t0 = false, t1 = true, t2 = boost::indeterminate;
  boost::rational<int> r(6, 8), r0;
  boost::uuids::uuid id{{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0, 1, 2, 3, 0xfc, 0xfd, 0xfe, 0xff}};
  boost::gregorian::date d0, d1(2020, 2, 29), d2(boost::date_time::pos_infin), d3(1969, 12, 31);
  boost::posix_time::ptime p0, p1(d1, boost::posix_time::time_duration(1, 2, 3, 4)), p2(boost::date_time::neg_infin);
  boost::posix_time::time_duration td0, td1(30, 5, 6, 7), td2(-1, 0, 0), td3(boost::date_time::pos_infin);
#if BOOST_VERSION >= 108100
  boost::filesystem::path path0, path("/usr/lib/x.so");
  SAYS(path0, "boost::filesystem::path \"\""); SAYS(path, "boost::filesystem::path \"/usr/lib/x.so\"");
#endif
  SAY(o0); SAY(o1); SAY(os0); SAY(os); SAY(ov); SAY(va); SAY(vb); SAY(vc); SAY(wa); SAY(wb); SAY(wc); SAY(wd); SAY(we);
  SAYS(y0, "boost::any [no contained value]");
  SAYS(y1, "boost::any containing int = {[contained value] = 5}");
  SAYS(ys, "boost::any containing std::string = {[contained value] = \"text\"}");
  SAYS(yv, "boost::any containing std::vector<int> = {[contained value] = std::vector of length 1, capacity 1 = {1}}");
  SAYS(h0, "boost::shared_ptr<int> (empty) = {get() = 0x0}");
  SAYS(h1, "boost::shared_ptr<int> (use count 1, weak count 0) = {get() = " + text(h1.get()) + "}");
  SAYS(h2, "boost::shared_ptr<int> (use count 2, weak count 1) = {get() = " + text(h2.get()) + "}");
  SAYS(h3, "boost::shared_ptr<int> (use count 2, weak count 1) = {get() = " + text(h2.get()) + "}");
  SAYS(w0, "boost::weak_ptr<int> (empty) = {get() = 0x0}");
  SAYS(w2, "boost::weak_ptr<int> (use count 2, weak count 1) = {get() = " + text(h2.get()) + "}");
  SAYS(expired, "boost::weak_ptr<int> (expired, weak count 1) = {get() = …");
  SAYS(q0, "boost::scoped_ptr<int> = {get() = 0x0}");
  SAYS(q1, "boost::scoped_ptr<int> = {get() = " + text(q1.get()) + "}");
  SAYS(qa, "boost::scoped_array<int> = {get() = " + text(qa.get()) + "}");
  SAYS(i0, "boost::intrusive_ptr<Counted> = {get() = 0x0}");
  SAYS(i1, "boost::intrusive_ptr<Counted> = {get() = " + text(i1.get()) + "}");
  SAYS(t0, "false"); SAYS(t1, "true"); SAYS(t2, "indeterminate"); SAYS(r, "3/4"); SAYS(r0, "0/1");
  SAYS(id, "01234567-89ab-cdef-0001-0203fcfdfeff");
  SAYS(d0, "not_a_date_time"); SAYS(d1, "2020-02-29"); SAYS(d2, "+infinity"); SAYS(d3, "1969-12-31");
  SAYS(p0, "not_a_date_time"); SAYS(p1, "2020-02-29 01:02:03.000004"); SAYS(p2, "-infinity");
  SAYS(td0, "00:00:00"); SAYS(td1, "30:05:06.000007"); SAYS(td2, "-01:00:00"); SAYS(td3, "+infinity");
  stop(); // others
}

static void more() {
  boost::multi_array<int, 1> m1(boost::extents[3]);
  boost::multi_array<int, 2> m2(boost::extents[2][3]), column(boost::extents[2][3], boost::fortran_storage_order()), m0;
  for (int i = 0; i < 3; i++) m1[i] = i;
  for (int i = 0; i < 6; i++) m2[i / 3][i % 3] = i, column[i / 3][i % 3] = i;
  boost::multi_array<int, 3> m3(boost::extents[2][1][2]);
  for (int i = 0; i < 4; i++) m3[i / 2][0][i % 2] = i;
  Hooked one(1), two(2), three(3);
  bi::list<Hooked> list, list0;
  list.push_back(two), list.push_back(one), list.push_back(three);
  using InSet = bi::member_hook<Hooked, bi::set_member_hook<>, &Hooked::in_set>;
  bi::set<Hooked, InSet> set, set0;
  set.insert(two), set.insert(three), set.insert(one);
  using InSlist = bi::member_hook<Hooked, bi::slist_member_hook<>, &Hooked::in_slist>;
  bi::slist<Hooked, InSlist> slist;
  slist.push_front(one), slist.push_front(three);
  SAYS(m1, "boost::multi_array<int, 1> 3 = {0, 1, 2}");
  SAYS(m2, "boost::multi_array<int, 2> 2 x 3 = {0, 1, 2, 3, 4, 5}");
  SAYS(column, "boost::multi_array<int, 2> 2 x 3 = {0, 1, 2, 3, 4, 5}");
  SAYS(m0, "boost::multi_array<int, 2> 0 x 0");
  SAYS(m3, "boost::multi_array<int, 3> 2 x 1 x 2 = {0, 1, 2, 3}");
  SAYS(list0, "boost::intrusive::list with 0 elements");
  SAYS(set0, "boost::intrusive::set with 0 elements");
  SAYS(list, "boost::intrusive::list with 3 elements = {[0] = …");
  SAYS(set, "boost::intrusive::set with 3 elements = {[0] = …");
  SAYS(slist, "boost::intrusive::slist with 2 elements = {[0] = …");
  stop(); // more
  list.clear(), set.clear(), slist.clear();
}

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  sequences();
  associative();
  others();
  more();
}
