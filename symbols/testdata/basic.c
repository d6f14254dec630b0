#include <stdio.h>
#include <stdlib.h>
struct node { int v; struct node *next; unsigned b:3, c:7; char name[8]; int m[2][3]; };
enum color { RED, GREEN = 5 };
typedef int (*cb)(int, const char *);
static int counter = 3;
struct node *head;
static inline __attribute__((always_inline)) int sq(int x) { int y = x * x; counter++; return y; }
__attribute__((noinline)) int add(int a, int b) {
  static int calls;
  calls++;
  int r = sq(a) + sq(b);
  for (int i = 0; i < 3; i++) { int q = i * r; r += q & 1; }
  return r;
}
int apply(cb f, int v) { return f(v, "x"); }
static int tw(int a, const char *s) { return a * 2 + s[0]; }
int main(int argc, char **argv) {
  enum color c = argc > 1 ? RED : GREEN;
  struct node n = { argc, NULL, 1, 2, "abc" };
  head = &n;
  printf("%d %d %d\n", add(argc, 2), apply(tw, 3), c);
  return 0;
}
