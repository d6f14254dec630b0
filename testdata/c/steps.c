// Something to step through: calls, recursion, loops, a function pointer, a
// tail of a line, an inlined function.
#include <stdio.h>
#include <string.h>

struct point {
  int x, y;
  double w;
};

static int factorial(int n) {
  if (n < 2)
    return 1;
  return n * factorial(n - 1);
}

static inline __attribute__((always_inline)) int twice(int v) {
  int r = v + v;
  return r;
}

static struct point shift(struct point p, int by) {
  p.x += by;
  p.y -= by;
  p.w *= 1.5;
  return p;
}

static int apply(int (*f)(int), int v) { return f(v) + 1; }

static double half(double d) {
  return d / 2;
}

int main(void) {
  struct point p = {1, 2, 3.0};
  int sum = 0;
  for (int i = 0; i < 2; i++) {
    sum += factorial(i + 2);
  }
  p = shift(p, sum);
  sum += twice(p.x);
  sum += apply(factorial, 3) + apply(factorial, 2);
  p.w = half(p.w);
  printf("%d %d %d %g\n", sum, p.x, p.y, p.w);
  return 0;
}
