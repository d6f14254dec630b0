// Types of a program that has views of its own: testdata/view/shapes.natvis.
struct Point { int x, y; };
struct Named { const char *name; int length; Point at; };
template <class T> struct Stack { T *data; int used, room; };
template <class T> struct Node { T value; Node *next; };
template <class T> struct Chain { Node<T> *head; int count; };
struct Leaf { int key; Leaf *left, *right; };
struct Tree { Leaf *root; };
template <class T> struct Ptr { T *p; };
struct Matrix { int rows, columns; double *cells; };
struct Shape { virtual ~Shape() {} int id = 0; };
struct Circle : Shape { double radius = 0; };
struct Flags { unsigned bits; };
struct Sparse { int size; int *slots; };
struct Derived : Stack<int> { int more; };
enum Colour { Red, Green };
struct Paint { Colour colour; union { int code; float shade; }; };
struct Loop { Loop *self; };
struct Old { int gone; };

int main() {
	Point point = {3, -4};
	Named named = {"a name and more", 6, {1, 2}};
	int numbers[] = {1, 2, 3, 4};
	Stack<int> stack = {numbers, 3, 4}, empty = {numbers, 0, 4};
	Stack<Point> points = {&point, 1, 1};
	Node<int> third = {30, nullptr}, second = {20, &third}, first = {10, &second};
	Chain<int> chain = {&first, 3}, none = {nullptr, 0};
	Leaf a = {1, nullptr, nullptr}, c = {3, nullptr, nullptr}, b = {2, &a, &c};
	Tree tree = {&b};
	Ptr<Point> owner = {&point}, nothing = {nullptr};
	double cells[] = {1, 2, 3, 4, 5, 6};
	Matrix matrix = {2, 3, cells};
	Circle circle;
	circle.id = 7, circle.radius = 1.5;
	Flags flags = {5};
	int slots[] = {0, 11, 0, 0, 14, 0, 16};
	Sparse sparse = {7, slots};
	Derived derived;
	derived.data = numbers, derived.used = 2, derived.room = 4, derived.more = 9;
	Paint red = {Red, {0x11}}, green = {Green, {}};
	green.shade = 0.5;
	Loop loop = {&loop};
	Old old = {8};
	return point.x + named.length + stack.used + points.used + chain.count + none.count + empty.used + flags.bits + sparse.size + matrix.rows
		+ derived.more + owner.p->x + (nothing.p != nullptr) + circle.id + tree.root->key + red.code + green.code + (loop.self != &loop) + old.gone; // stop
}
