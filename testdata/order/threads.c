// Dies with many threads at work, each at the end of a chain of its own: functions that pass on what they were
// passed and keep little of it, recursion, inlined and tail calls, and a signal handler. A variable that a debugger
// finds only by asking callers of callers makes its answers depend on each other.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define OUT __attribute__((noinline, noclone))
struct box {
  long a, b;
  const char *name;
};

enum { THREADS = 5 };
volatile long sink;
static pthread_barrier_t ready;
static __thread long mine;

#define PASS(name, next)                       \
  OUT long name(struct box *p, long n, char *s) { \
    long r = next(p, n + 1, s + 1);            \
    sink = r;                                  \
    return r + 1;                              \
  }

static void wait_here(long n) {
  mine = n;
  pthread_barrier_wait(&ready);
  for (;;)
    pause();
}

OUT long sleeper(struct box *p, long n, char *s) {
  wait_here(n);
  return p->a + n + s[0];
}

static void on_usr1(int sig) {
  struct box inside = {sig, mine, "handler"};
  char text[16] = "in a handler";
  sink = sleeper(&inside, inside.b + 1, text);
}

OUT long interrupted(struct box *p, long n, char *s) {
  mine = n;
  raise(SIGUSR1);
  return p->b + n + s[1];
}

// last is where a chain ends: by the thread's kind.
OUT long last(struct box *p, long n, char *s) {
  long r;
  if (p->b == 0)
    abort();
  if (p->b & 1)
    r = interrupted(p, n, s);
  else
    r = sleeper(p, n, s);
  sink = r;
  return r + n;
}
PASS(f5, last)
PASS(f4, f5)
PASS(f3, f4)
OUT long tail(struct box *p, long n, char *s) { return f3(p, n, s); }
static inline __attribute__((always_inline)) long inlined(struct box *p, long n, char *s) {
  long twice = n * 2;
  long r = tail(p, twice, s);
  sink = r;
  return r + twice;
}
OUT long f2(struct box *p, long n, char *s) {
  long r = inlined(p, n, s);
  sink = r;
  return r + 1;
}
OUT long again(struct box *p, long n, char *s, int depth) {
  if (depth == 0)
    return f2(p, n, s) + 1;
  long r = again(p, n, s, depth - 1);
  sink = r;
  return r + 1;
}
OUT long start(struct box *p, long n, char *s) { return again(p, n, s, (int)(n % 7)) + p->b; }

static void *worker(void *arg) {
  long id = (long)arg;
  struct box b = {id * 100, id, "worker"};
  char text[32] = "text of a worker's own";
  return (void *)start(&b, id * 11, text);
}

int main(int argc, char **argv) {
  pthread_t t;
  (void)argv;
  signal(SIGUSR1, on_usr1);
  pthread_barrier_init(&ready, 0, THREADS + 1);
  for (long i = 1; i <= THREADS; i++)
    pthread_create(&t, 0, worker, (void *)i);
  pthread_barrier_wait(&ready);
  struct box b = {7, 0, "main"};
  char text[32] = "text of main's own";
  return (int)start(&b, argc * 45, text);
}
