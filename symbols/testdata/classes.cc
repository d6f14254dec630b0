// Classes, templates, inheritance, lambdas and inlining.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace geo {
struct Point { int x, y; };
inline namespace v1 { int versioned(int a) { return a + 1; } }
namespace { int hidden(int a) { return a * 3; } }

class Shape {
public:
  virtual ~Shape() {}
  virtual double area() const = 0;
  static int count;
  enum class Kind : unsigned char { Round, Square };
  Kind kind = Kind::Round;
};
int Shape::count = 7;

class Square : public Shape {
  double side_;
public:
  explicit Square(double s) : side_(s) { count++; }
  double area() const override { return side_ * side_; }
  Square operator+(const Square &o) const { return Square(side_ + o.side_); }
};

template <typename T> T biggest(const std::vector<T> &v) {
  T best = v.front();
  for (const T &e : v)
    if (best < e)
      best = e;
  return best;
}
}  // namespace geo

__attribute__((noinline)) int overload(int a) { return a + 1; }
__attribute__((noinline)) double overload(double a) { return a + 1; }
__attribute__((noinline)) int overload(const char *s, int &&r) { return s[0] + r; }

struct V : virtual geo::Point { int z; };
union U { int i; float f; struct { short lo, hi; }; };
int (geo::Point::*unused)();
int geo::Point::*member = &geo::Point::y;
const int konst = 42;
thread_local int tls_value = 3;

__attribute__((noinline)) int use(V &v, U *u, int (*fp)(int), int (&arr)[3]) {
  struct Local { int k; int twice() { return k * 2; } } l{v.z};
  return l.twice() + u->lo + fp(arr[1]);
}

int main(int argc, char **argv) {
  std::vector<int> v;
  for (int i = 0; i < 20; i++) v.push_back(i * argc % 7);
  std::sort(v.begin(), v.end(), [&](int a, int b) { return a + argc > b + argc; });
  std::map<std::string, int> m;
  m["one"] = 1;
  m[argv[0]] = 2;
  geo::Square a(argc), b(2);
  auto c = a + b;
  V vv; vv.x = 1; vv.z = argc;
  U u; u.i = argc;
  int arr[3] = {1, 2, 3};
  std::printf("%d %f %d %f %d %d\n", geo::biggest(v), c.area(), overload(argc), overload(2.5), geo::versioned(argc) + geo::hidden(3),
              overload("x", 3) + use(vv, &u, overload, arr) + konst + tls_value + (int)m.size());
  return vv.*member;
}
