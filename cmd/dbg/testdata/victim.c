// A program that never ends. It prints its process id; with an argument it has more threads, which work too.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

int n;

int work(int i) { n += 1; return n + i; }

static void *worker(void *arg) {
  for (int i = 0;; i++) {
    work(i);
    usleep(500);
  }
  return arg;
}

int main(int argc, char **argv) {
  (void)argv;
  printf("pid %d\n", getpid());
  fflush(stdout);
  for (int i = 1; i < argc * 3 - 3; i++) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
  }
  worker(0);
}
