// Names that mean a type and something else, for eval's tests against gdb: nothing runs.
struct node {
    int value;
    node *next;
    static int made;
    node(int v, node *n) : value(v), next(n) { made++; }
    ~node() {}
    int extent() const { return value; }
    static int limit() { return 7; }
};
int node::made = 0;
struct extent { long a, b, c; }; // also a member function
struct limit { short s[5]; };    // also a static member function

namespace ns {
struct item {
    int i;
    item(int v) : i(v) {}
};
}
template <typename T> struct box {
    T value;
    box(T v) : value(v) {}
};
namespace {
struct quiet {
    int q[3];
    quiet(int v) : q{v} {}
};
}
struct twin { int a[5]; };
long twin(int x) { return x; } // hides the type

node last(2, nullptr), first(1, &last);
node *p = &first;
void *raw = &first;
ns::item it(5);
box<int> bi(9);
quiet qu(4);
extent ex = {1, 2, 3};
limit lim;
struct twin tw;

int main() { return first.extent() + node::limit() + it.i + bi.value + qu.q[0] + (int)ex.a + lim.s[0] + tw.a[0] + (int)twin(1); }
