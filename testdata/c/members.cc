// A member function whose members hide globals, and enumerators.
int value = 1000;
enum Plain { ZERO, ONE, TWO };
namespace ns {
enum class Color { RED = 3, GREEN };
struct Base {
  int inherited = 7;
};
struct Box : Base {
  int value = 5;
  Color color = Color::GREEN;
  Plain plain = TWO;
  __attribute__((noinline)) int get(int add) { return value + add + inherited; }
};
} // namespace ns
int main() {
  ns::Box box;
  return box.get(2) == 14 ? 0 : value;
}
