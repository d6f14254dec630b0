// Aborts three calls deep.
#include <stdio.h>
#include <stdlib.h>

static int depth;

__attribute__((noinline)) int baz(int x) {
  depth = x;
  if (x > 2)
    abort();
  return x + 1;
}

__attribute__((noinline)) int bar(int x) {
  int local = x * 2;
  return baz(local + 1) + local;
}

__attribute__((noinline)) int foo(int x) {
  return bar(x + 1) * 3;
}

int main(int argc, char **argv) {
  (void)argv;
  printf("%d\n", foo(argc));
  return 0;
}
