// A program that keeps a debugger busy.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

struct point {
  int x, y;
};

struct point million[1000000];
struct wide {
  int v[100];
} wide[10000];

__attribute__((noinline)) int bottom(int n) {
  million[0].x = n;
  return n;
}

__attribute__((noinline)) int recurse(int n) {
  if (n == 0)
    return bottom(n);
  return recurse(n - 1) + 1;
}

static long depth;

static void *deep(void *arg) {
  recurse(depth);
  return arg;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "deep")) {
    pthread_attr_t a;
    pthread_t t;
    depth = atol(argv[2]);
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, depth * 64 + (1 << 20));
    pthread_create(&t, &a, deep, 0);
    pthread_join(t, 0);
  } else if (!strcmp(what, "values")) {
    for (int i = 0; i < 1000000; i++) {
      million[i].x = i;
      wide[i / 100].v[i % 100] = i;
    }
    bottom(1);
  } else if (!strcmp(what, "vfork")) {
    if (vfork() == 0) {
      struct timespec ts = {600, 0};
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      write(1, "asleep\n", 7);
      nanosleep(&ts, 0);
      _exit(0);
    }
  } else {
    puts("waiting");
    fflush(stdout);
    for (;;)
      usleep(1000);
  }
  return 0;
}
