// A program with a shadow call stack and without a C library: it sets X18 up itself, and calls functions of every kind.
typedef unsigned long word;
#define OUT __attribute__((noinline))

static word shadow[512];
volatile word sink;

OUT word leaf(word n) { return n * 7 + sink; }
OUT word two(word n) { return leaf(n) + leaf(n + 1) * 3; }
OUT word big(word n) {
  volatile char room[5000];
  room[n & 1023] = (char)n;
  return two(n) + (word)room[(n + 1) & 1023];
}
OUT word vla(word n) {
  volatile char room[n];
  room[n - 1] = 3;
  return big(n) + (word)room[n - 1];
}
OUT word fact(word n) { return n < 2 ? leaf(n) : n * fact(n - 1); }
OUT word odd(word n);
OUT word even(word n) { return n == 0 ? vla(33) : odd(n - 1) + 1; }
OUT word odd(word n) { return n == 0 ? two(1) : even(n - 1) * 3; }
OUT word tail(word n) {
  sink = n;
  return even(n + 2); // a tail call
}
OUT word many(word a, word b, word c, word d, word e, word f, word g, word h, word i, word j) {
  word r = two(a + b);
  r += fact(c & 7) * d + e;
  r += tail(f & 3);
  return r + g * h + i + j;
}
static OUT void swap(word *a, word *b) {
  word t = *a;
  *a = *b;
  *b = t;
}
static int below(word a, word b) {
  sink = a;
  return two(a) < two(b);
}
static OUT void sort(word *v, int n, int (*less)(word, word)) {
  if (n < 2)
    return;
  int at = 0;
  for (int i = 1; i < n; i++)
    if (less(v[i], v[0]))
      swap(&v[i], &v[++at]);
  swap(v, &v[at]);
  sort(v, at, less);
  sort(v + at + 1, n - at - 1, less);
}
OUT word pick(word n) {
  switch (n & 7) {
  case 0: return leaf(n);
  case 1: return two(n) + 1;
  case 2: return fact(4);
  case 3: return big(n) - 1;
  case 4: return even(3);
  case 5: return odd(3) + n;
  default: return n;
  }
}

int main(void) {
  word v[6] = {5, 2, 9, 1, 7, 3}, r = 0;
  sort(v, 6, below);
  for (word i = 0; i < 8; i++)
    r += pick(i);
  return (int)(r + many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
}

__attribute__((no_sanitize("shadow-call-stack"), noreturn)) void start(void) {
  __asm__ volatile("mov x18, %0\n\tbl main\n\tmov x8, #93\n\tsvc #0" ::"r"(shadow) : "x30", "x8", "memory");
  __builtin_unreachable();
}
__asm__(".globl _start\n_start:\n\tmov x29, #0\n\tmov x30, #0\n\tbl start\n");
