// Values of C++'s own types, for eval's tests against gdb: nothing runs.
#include <cstddef>

namespace ns {
int counter = 3;
enum class color { red, green };
enum plain { P0, P1 };
struct inner { int v; };
template <typename T> struct box { T value; T *ptr; };
}

struct base { int b; };
struct other { int o; };
struct empty {};
struct derived : base, other { int d; static int shared; };
struct hollow : empty { int h; };
struct nested { derived x; int &r; };
int derived::shared = 9;
int target = 5;

struct shape {
    virtual int area() { return 1; }
    int w;
};
struct square : shape {
    int side;
    int area() override { return side * side; }
};

int &ref = target;
const int &cref = target;
int *const cptr = &target;
derived der = {{1}, {2}, 3};
derived &dref = der;
base *bp = &der;
other *op = &der;
derived *dp = &der;
hollow hol;
nested nest = {{{4}, {5}, 6}, target};
empty emp;
ns::color col = ns::color::green;
ns::color colx = (ns::color)7;
ns::plain pl = ns::P1;
ns::inner in = {8};
ns::box<int> bi = {5, &target};
ns::box<char> bc = {'x', nullptr};
bool yes = true, no = false;
bool bools[3] = {true, false, true};
wchar_t wide[] = L"wide";
char16_t c16 = u'x';
char text[8] = "text";
int (*fn)(derived &, const char *) = nullptr;
int derived::*member = nullptr;
std::nullptr_t np = nullptr;
class hidden {
    int x = 1;
  public:
    int y = 2;
    int get() const { return x; }
} hid;
union either { int i; float f; } ei = {3};
derived array[2] = {{{1}, {2}, 3}, {{4}, {5}, 6}};
int plus(int a, int b) { return a + b; }
namespace ns { int twice(int a) { return 2 * a; } }
square sq;

int main() { return sq.area() + ref + plus(1, 2) + ns::twice(1) + hid.get() + (int)bi.value + yes; }
