// Says that it is ready, and waits three calls deep for a line on its input.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) int inner(int x) {
  char c;
  int got = (int)read(0, &c, 1);
  return got + x;
}

__attribute__((noinline)) int middle(int x) {
  int y = inner(x + 1);
  return y * 2;
}

__attribute__((noinline)) int outer(int x) {
  int z = middle(x + 2);
  return z - 1;
}

int main(int argc, char **argv) {
  (void)argv;
  puts("ready");
  fflush(stdout);
  printf("result %d\n", outer(argc));
  return 0;
}
