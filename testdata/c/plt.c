// Calls a library function through the PLT.
#include <stdio.h>

__attribute__((noinline)) int caller(int n) {
  puts("through the PLT");
  return n + 1;
}

int main(int argc, char **argv) {
  (void)argv;
  return caller(argc) - 2;
}
