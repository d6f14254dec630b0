// Classes whose names compilers, demanglers and debug information spell in different ways.
#include <string>
#include <vector>
#include <array>
#include <map>
#include <memory>
enum Color { RED, GREEN };
struct B { virtual ~B() {} int b = 1; };
template <class T> struct D : B { int d = 2; };
template <unsigned N> struct N5 : B { int d = N; };
template <Color C> struct Col : B { int d = C; };
template <int I, bool F, char Ch> struct Mix : B { int d = I; };
template <class... T> struct Pack : B { int d = 3; };
namespace in { template <class T> struct O { struct I : B { int d = 4; }; }; }
struct Fwd;
typedef D<std::map<std::string, std::vector<unsigned long>>> Mapped;
B *list[] = { new D<int>, new D<unsigned long long>, new D<std::string>, new D<std::vector<std::string>>, new N5<5>, new Col<GREEN>,
  new Mix<-3, true, 'x'>, new Pack<int, char *, const Color &>, new in::O<short>::I, new D<std::array<int, 3>>, new Mapped, new D<Color>,
  new D<int (*)(long, const char *)>, new D<std::unique_ptr<B>>, new D<const volatile unsigned char[4]>, new D<Fwd> };
static void stop() {}
int main() {
  struct Local : B { int l = 5; };
  B *local = new Local;
  B *lam = [] { struct X : B { int x = 1; }; return new X; }();
  stop();
  return local->b + lam->b;
}
