// Objects whose dynamic type is not their static one, for "set print object" and "info vtbl".
#include <cstring>
#include <new>

namespace shapes {
struct Shape {
    int id = 1;
    virtual ~Shape() {}
    virtual int area() const { return 0; }
    virtual void grow(int) {}
    static int count;
};
int Shape::count = 7;

struct Named {
    int name = 2;
    virtual int length() { return name; }
    virtual ~Named() {}
};

struct Square : Shape {
    int side = 3;
    int area() const override { return side * side; }
};

struct Label : Square, Named {
    int text = 4;
    int length() override { return text; }
};
}

namespace {
struct Hidden : shapes::Shape {
    int secret = 5;
    int area() const override { return secret; }
};
}

// Virtual inheritance.
struct Top { int t = 10; virtual int f() { return t; } virtual ~Top() {} };
struct Left : virtual Top { int l = 11; int f() override { return l; } };
struct Right : virtual Top { int r = 12; virtual int g() { return r; } };
struct Bottom : Left, Right { int b = 13; int f() override { return b; } };

// The primary table is that of a base which is not the first.
struct Plain { int p = 20; };
struct Late : Plain, shapes::Named { int q = 21; };

template <typename T> struct Box : shapes::Shape { T value = 6; };

shapes::Shape *square = new shapes::Square;
shapes::Shape *label = new shapes::Label;
shapes::Named *second = dynamic_cast<shapes::Named *>(label);
shapes::Shape *hidden = new Hidden;
shapes::Shape *boxed = new Box<long>;
shapes::Shape *nothing = nullptr;
Top *top = new Bottom;
Right *right = static_cast<Right *>(new Bottom);
shapes::Named *late = new Late;
const shapes::Shape *constant = new shapes::Square;
shapes::Shape *exact = new shapes::Shape;
alignas(16) char early[256];
shapes::Shape *unborn = (shapes::Shape *)early;
shapes::Shape *damaged = new shapes::Square;
void *untyped = square;
Plain *plain = new Late;

void stop() {}

struct Half : shapes::Shape {
    int half = 30;
    Half() { watch(this); }
    static void watch(shapes::Shape *self) { (void)self; stop(); }
};
struct Whole : Half { int whole = 31; };

int main() {
    shapes::Shape &ref = *label;
    const shapes::Shape &cref = *square;
    shapes::Square value;
    shapes::Shape *pair[2] = {square, label};
    struct { shapes::Shape *inner; } holder = {square};
    std::memset(early, 0x5a, sizeof early);
    void *junk = early + 8;
    std::memcpy((void *)damaged, &junk, sizeof junk);
    stop();
    new Whole;
    return ref.id + cref.id + value.id + pair[0]->id + holder.inner->id;
}
