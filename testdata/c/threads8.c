// Eight threads, each waiting in a function of its own.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_barrier_t all_there;
static pthread_mutex_t never = PTHREAD_MUTEX_INITIALIZER;

#define WORKER(n)                                             \
  __attribute__((noinline)) void wait_##n(int k) {            \
    volatile int mine = k * n;                                \
    pthread_barrier_wait(&all_there);                         \
    pthread_mutex_lock(&never);                               \
    mine++;                                                   \
    pthread_mutex_unlock(&never);                             \
  }                                                           \
  void *worker_##n(void *arg) {                               \
    wait_##n(*(int *)arg);                                    \
    return 0;                                                 \
  }

WORKER(1) WORKER(2) WORKER(3) WORKER(4) WORKER(5) WORKER(6) WORKER(7) WORKER(8)

int main(int argc, char **argv) {
  static void *(*const workers[8])(void *) = {worker_1, worker_2, worker_3, worker_4,
                                              worker_5, worker_6, worker_7, worker_8};
  pthread_t t[8];
  int arg = 7;
  (void)argv;
  pthread_barrier_init(&all_there, 0, 9);
  pthread_mutex_lock(&never);
  for (int i = 0; i < 8; i++)
    pthread_create(&t[i], 0, workers[i], &arg);
  pthread_barrier_wait(&all_there);
  if (argc > 1 && !strcmp(argv[1], "wait")) {
    puts("ready");
    fflush(stdout);
    pause();
  }
  if (argc > 1 && !strcmp(argv[1], "finish"))
    pthread_mutex_unlock(&never);
  else
    abort();
  for (int i = 0; i < 8; i++)
    pthread_join(t[i], 0);
  return 0;
}
