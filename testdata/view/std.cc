// Containers, strings and smart pointers of the C++ standard library. The program prints the name of
// each variable and what a debugger must show for it.
#include "text.h"

struct Point {
  int x, y;
};
template <> struct Text<Point> {
  static Out of(const Point &p) { return "{x = " + text(p.x) + ", y = " + text(p.y) + "}"; }
};
struct Wide { // elements behind links are aligned
  alignas(32) long a;
  long b;
};
template <> struct Text<Wide> {
  static Out of(const Wide &p) { return "{a = " + text(p.a) + ", b = " + text(p.b) + "}"; }
};
inline bool operator<(const Wide &p, const Wide &q) { return p.a < q.a; }
struct Throws {
  operator int() const { throw 1; }
};
struct Deleter {
  void operator()(int *p) const { delete p; }
};

__attribute__((noinline)) void stop() { asm volatile("" : : : "memory"); }

static void strings() {
  std::string s0, s1 = "x", s3 = "abc", s15 = "fifteen letters", s16 = "sixteen letters!", quote = "a \"b\"\\\n";
  std::string zero("a\0b", 3), many;
  for (int i = 0; i < 100000; i++) many += char('a' + i % 26);
  std::wstring wide = L"wide", wide_long = L"a long wide string of many characters";
  std::u16string u16 = u"sixteen";
  std::u32string u32 = U"thirty-two";
  std::string_view view0, view = "view", part = std::string_view("a part of it").substr(2, 4);
  std::wstring_view wide_view = L"wide view";
  std::string moved = "a string that is moved from", target = std::move(moved);
  SAY(s0); SAY(s1); SAY(s3); SAY(s15); SAY(s16); SAY(quote); SAY(zero); SAY(many); SAY(wide); SAY(wide_long);
  SAY(u16); SAY(u32); SAY(view0); SAY(view); SAY(part); SAY(wide_view); SAY(moved); SAY(target);
#ifdef __cpp_char8_t
  std::u8string u8 = u8"eight";
  std::vector<char8_t> v8{u8'a'};
  SAY(u8); SAY(v8);
#endif
  stop(); // strings
}

static void sequences() {
  std::vector<int> v0, v1{7}, v3{1, 2, 3}, many(100000);
  for (int i = 0; i < 100000; i++) many[i] = i * 3;
  v3.reserve(10);
  std::vector<std::string> vs{"one", "", "a long string that is on the heap"};
  std::vector<Point> vp{{1, 2}, {3, 4}};
  std::vector<std::vector<std::vector<int>>> deep{{{1}, {2, 3}}, {}, {{}, {4}}};
  std::vector<bool> b0, b3{true, false, true}, b70(70);
  for (int i = 0; i < 70; i += 3) b70[i] = true;
  std::array<int, 0> a0;
  std::array<int, 3> a3{1, 2, 3};
  std::array<std::string, 2> as{"x", "y"};
  std::deque<int> d0, d1{1}, d3{1, 2, 3}, d_many;
  for (int i = 0; i < 50000; i++) d_many.push_back(i), d_many.push_front(-i);
  std::deque<Wide> dw{{1, 2}, {3, 4}};
  std::list<int> l0, l1{1}, l3{1, 2, 3}, l_many;
  for (int i = 0; i < 100000; i++) l_many.push_back(i);
  std::list<Wide> lw{{1, 2}, {3, 4}};
  std::list<char> lc{'a', 'b'};
  std::list<std::list<std::list<int>>> l_deep{{{1, 2}, {}}, {}};
  std::forward_list<int> f0, f1{1}, f3{1, 2, 3};
  std::forward_list<std::string> fs{"a", "b"};
  std::forward_list<Wide> fw{{1, 2}};
  std::initializer_list<int> i3{4, 5, 6};
  std::vector<int> moved{1, 2, 3}, v_target = std::move(moved);
  std::deque<int> d_moved{1, 2}, d_target = std::move(d_moved);
  std::list<int> l_moved{1, 2}, l_target = std::move(l_moved);
  SAY(v0); SAY(v1); SAY(v3); SAY(many); SAY(vs); SAY(vp); SAY(deep); SAY(b0); SAY(b3); SAY(b70); SAY(a0); SAY(a3); SAY(as);
  SAY(d0); SAY(d1); SAY(d3); SAY(d_many); SAY(dw); SAY(l0); SAY(l1); SAY(l3); SAY(l_many); SAY(lw); SAY(lc); SAY(l_deep);
  SAY(f0); SAY(f1); SAY(f3); SAY(fs); SAY(fw); SAY(i3); SAY(moved); SAY(v_target); SAY(d_moved); SAY(d_target);
  SAY(l_moved); SAY(l_target);
  stop(); // sequences
}

static void associative() {
  std::map<int, int> m0, m1{{1, 2}}, m3{{1, 10}, {2, 20}, {3, 30}}, m_many;
  for (int i = 0; i < 100000; i++) m_many[i * 7 % 100000] = i;
  std::map<std::string, std::vector<int>> mv{{"a", {1}}, {"b", {}}};
  std::map<std::string, std::map<std::string, std::map<int, std::string>>> deep{{"x", {{"y", {{1, "z"}}}}}, {"w", {}}};
  std::map<Wide, char> mw{{{1, 2}, 'a'}};
  std::map<char, Wide> mw2{{'a', {1, 2}}, {'b', {3, 4}}};
  std::multimap<int, char> mm{{1, 'a'}, {1, 'b'}, {0, 'c'}};
  std::set<int> s0, s1{5}, s3{3, 1, 2};
  std::set<std::string> ss{"b", "a"};
  std::set<Wide> sw{{1, 2}, {3, 4}};
  std::multiset<int> ms{1, 1, 2};
  std::unordered_map<int, int> u0, u1{{1, 2}}, u_many;
  for (int i = 0; i < 100000; i++) u_many[i] = -i;
  std::unordered_map<std::string, int> us{{"one", 1}, {"two", 2}, {"three", 3}};
  std::unordered_map<std::string, std::vector<std::string>> uv{{"k", {"v", "w"}}};
  std::unordered_map<int, Wide> uw{{1, {2, 3}}};
  std::unordered_multimap<int, char> um{{1, 'a'}, {1, 'b'}};
  std::unordered_set<int> us0, us3{1, 2, 3};
  std::unordered_set<std::string> uss{"x", "y"};
  std::unordered_multiset<int> ums{1, 1};
  std::map<int, int> m_moved{{1, 2}}, m_target = std::move(m_moved);
  std::unordered_map<int, int> u_moved{{1, 2}}, u_target = std::move(u_moved);
  SAY(m0); SAY(m1); SAY(m3); SAY(m_many); SAY(mv); SAY(deep); SAY(mw); SAY(mw2); SAY(mm); SAY(s0); SAY(s1); SAY(s3); SAY(ss);
  SAY(sw); SAY(ms); SAY(u0); SAY(u1); SAY(u_many); SAY(us); SAY(uv); SAY(uw); SAY(um); SAY(us0); SAY(us3); SAY(uss); SAY(ums);
  SAY(m_moved); SAY(m_target); SAY(u_moved); SAY(u_target);
  stop(); // associative
}

static void others() {
  std::pair<int, std::string> p{1, "one"};
  std::pair<std::pair<int, int>, double> pp{{1, 2}, 0.5};
  std::tuple<> t0;
  std::tuple<int> t1{1};
  std::tuple<int, std::string, std::vector<int>> t3{1, "two", {3}};
  std::tuple<std::tuple<int, char>, std::pair<int, int>> tt{{1, 'a'}, {2, 3}};
  std::optional<int> o0, o1 = 5;
  std::optional<std::string> os = "text", os0;
  std::optional<std::vector<int>> ov = std::vector<int>{1, 2};
  std::variant<int, std::string, double> va = 1, vb = "text", vc = 2.5, vd = 1;
  try {
    vd.emplace<0>(Throws());
    vd.emplace<1>(Throws(), 'x');
  } catch (int) {
  }
  std::unique_ptr<int> q0, q1 = std::make_unique<int>(5), q_moved = std::make_unique<int>(6), q_target = std::move(q_moved);
  std::unique_ptr<int, Deleter> qd(new int(7));
  std::shared_ptr<int> h0, h1 = std::make_shared<int>(5), h2(new int(6)), h3 = h2;
  std::shared_ptr<std::string> hs = std::make_shared<std::string>("text");
  std::weak_ptr<int> w0, w2 = h2, expired;
  {
    auto gone = std::make_shared<int>(1);
    expired = gone;
  }
  std::bitset<0> b0;
  std::bitset<5> b5(0b10110);
  std::bitset<200> b200;
  b200[0] = b200[64] = b200[199] = true;
  std::queue<int> queue({1, 2, 3});
  std::stack<int, std::vector<int>> stack({1, 2});
  std::priority_queue<int> heap;
  heap.push(3), heap.push(9);
  SAY(p); SAY(pp); SAY(t0); SAY(t1); SAY(t3); SAY(tt); SAY(o0); SAY(o1); SAY(os); SAY(os0); SAY(ov); SAY(va); SAY(vb); SAY(vc);
  SAY(vd); SAY(q0); SAY(q1); SAY(q_moved); SAY(q_target); SAY(qd); SAY(h0); SAY(h1); SAY(hs); SAY(b0); SAY(b5); SAY(b200);
  SAY(queue); SAY(stack); SAY(heap);
  Text<std::shared_ptr<int>>::weak = 1;
  SAY(h2); SAY(h3);
  SAYS(w0, "std::weak_ptr<int> (empty) = {get() = 0x0}");
  SAYS(w2, "std::weak_ptr<int> (use count 2, weak count 1) = {get() = " + text(h2.get()) + "}");
  SAYS(expired, "std::weak_ptr<int> (expired, weak count 1) = {get() = …"); // what it points to is gone
  stop(); // others
}

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  strings();
  sequences();
  associative();
  others();
}
