// Dies at the end of a long chain of direct calls, with frames of every shape: what the unwinder
// can call exact to the end.
#include <alloca.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define OUT __attribute__((noinline, noclone))
volatile int *nowhere;
volatile int sink;

OUT int even(int n, int k);
OUT int odd(int n, int k);
OUT int wide(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j);

OUT int bottom(int k) {
  *nowhere = k;
  return k;
}

OUT int recurse(int n, int k) {
  volatile int mine = n;
  if (n == 0)
    return bottom(k) + mine;
  // Several calls of one function: a return address that is another one's looks as good.
  if (n & 1)
    return recurse(n - 1, k + 1) + mine;
  sink = k;
  return recurse(n - 1, k + 2) * mine;
}

OUT int tables(int k) {
  char buf[300];
  memset(buf, k, sizeof buf);
  sink = buf[k & 63];
  return recurse(12, k) + buf[7];
}

OUT int vla(int n, int k) {
  volatile char a[n];
  memset((char *)a, 1, n);
  return tables(k + a[n - 1]) + a[0];
}

OUT int aligned(int k) {
  _Alignas(64) volatile char a[128];
  a[0] = k;
  char *b = alloca(a[0] + 40);
  memset(b, 2, a[0] + 40);
  return vla(50 + b[3], k) + a[0] + b[1];
}

OUT int many(int a, int b, int c, int d, int e, int f) {
  int r = aligned(a + f);
  sink = r;
  return r + a * b + c * d + e * f + even(0, a + b + c + d);
}

OUT int wide(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j) {
  int r = many(a, b, c, d, e, f);
  return r + a + b + c + d + e + f + g + h + i + j;
}

OUT int even(int n, int k) { return n == 0 ? wide(k, 1, 2, 3, 4, 5, 6, 7, 8, 9) + 1 : odd(n - 1, k) + 2; }
OUT int odd(int n, int k) { return even(n - 1, k + 1) * 3; }

static void *worker(void *arg) { return (void *)(intptr_t)even(10, (int)(intptr_t)arg); }

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1) {
    pthread_t t;
    pthread_create(&t, 0, worker, (void *)3);
    pthread_join(t, 0);
  }
  return even(8, argc);
}
