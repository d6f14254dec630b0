// Four threads compute the same checksum again and again, with calls, signals
// and system calls on the way, until the input ends; then the program says how many rounds
// there were and whether all gave the same. "compute ROUNDS" runs so many and ends.
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static volatile int done;
static volatile sig_atomic_t ticks;
static long rounds_wanted;

__attribute__((noinline)) uint64_t mix(uint64_t h, uint64_t v) {
  h ^= v;
  h *= 0x100000001b3ull;
  return h ^ (h >> 29);
}

__attribute__((noinline)) uint64_t tree(uint64_t h, int depth) {
  if (depth == 0)
    return mix(h, 1);
  return mix(tree(h, depth - 1), tree(h + depth, depth - 1));
}

struct result {
  long rounds, wrong;
  uint64_t sum;
};

static void *work(void *arg) {
  struct result *r = arg;
  while (!done && (!rounds_wanted || r->rounds < rounds_wanted)) {
    uint64_t h = 14695981039346656037ull;
    double d = 1;
    for (int i = 0; i < 20; i++) {
      h = tree(h, 8);
      d = d * 1.0000001 + (double)(h & 0xff) / 3;
      if (getppid() < 0)
        h = 0;
    }
    h = mix(h, (uint64_t)d);
    if (r->rounds && h != r->sum)
      r->wrong++;
    r->sum = h;
    r->rounds++;
  }
  return 0;
}

static void tick(int sig) {
  (void)sig;
  ticks++;
}

int main(int argc, char **argv) {
  pthread_t t[4];
  struct result r[4] = {{0}};
  struct itimerval every = {{0, 2000}, {0, 2000}};
  struct sigaction sa = {.sa_handler = tick, .sa_flags = SA_RESTART};
  char c;
  if (argc > 1)
    rounds_wanted = atol(argv[1]);
  sigaction(SIGALRM, &sa, 0);
  setitimer(ITIMER_REAL, &every, 0);
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], 0, work, &r[i]);
  puts("ready");
  fflush(stdout);
  if (!rounds_wanted) {
    while (read(0, &c, 1) == 1)
      ;
    done = 1;
  }
  long wrong = 0;
  for (int i = 0; i < 4; i++) {
    pthread_join(t[i], 0);
    wrong += r[i].wrong + (r[i].sum != r[0].sum) + (r[i].rounds == 0);
  }
  printf("sum %016llx wrong %ld\n", (unsigned long long)r[0].sum, wrong);
  return wrong != 0;
}
