// Variables that live in callee-saved registers while inner calls use these
// registers for variables of their own.
#include <stdio.h>

static __thread int per_thread = 41;
int counter;

__attribute__((noipa)) void stop(void) {
  counter++;
  __asm__ volatile("" ::: "memory");
}

__attribute__((noipa)) long middle(long x) {
  long kept = x * 7 + counter;
  long other = kept ^ 0x1234;
  stop();
  return kept + other * 3;
}

__attribute__((noipa)) long outer(long a, long b) {
  long kept = a * 3 + b;
  long more = b ^ 0x55;
  long r = middle(a + 1);
  return (kept ^ r) + more;
}

int main(int argc, char **argv) {
  (void)argv;
  per_thread += argc;
  printf("%ld\n", outer(argc, 5));
  return per_thread == 0;
}
