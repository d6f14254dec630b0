// What an editor meets in a program. The first argument chooses; a comment at a
// line's end names it for the tests.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct point {
  int x, y;
};

struct shape {
  const char *name;
  struct point corner[2];
  struct shape *next;
  union {
    int whole;
    short half[2];
  };
};

static int big[5000];
int global = 7;

__attribute__((noinline)) int add(int a, int b) {
  int sum = a + b; // add-body
  global += sum;
  return sum; // add-return
}

__attribute__((noinline)) int recurse(int n) {
  if (n == 0)
    return add(1, 2); // recurse-bottom
  return recurse(n - 1) + 1;
}

static int inspect(void) {
  struct shape second = {"second", {{5, 6}, {7, 8}}, 0, {9}};
  struct shape first = {"first", {{1, 2}, {3, 4}}, &second, {0x20001}};
  struct shape *p = &first;
  int numbers[4] = {10, 20, 30, 40};
  int shadow = 1;
  big[4999] = 42;
  {
    int shadow = 2;
    numbers[0] += shadow; // inspect-here
  }
  return p->corner[0].x + numbers[0] + shadow; // inspect-after
}

static int loop(void) {
  int total = 0;
  for (int i = 0; i < 10; i++)
    total += add(i, 1); // loop-body
  return total;
}

static pthread_barrier_t barrier;

static void *worker(void *arg) {
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  return arg;
}

static void threads(void) {
  pthread_t t[3];
  pthread_barrier_init(&barrier, 0, 4);
  for (int i = 0; i < 3; i++)
    pthread_create(&t[i], 0, worker, 0);
  pthread_barrier_wait(&barrier);
  puts("all there"); // threads-all
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < 3; i++)
    pthread_join(t[i], 0);
  puts("all gone"); // threads-none
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : ""; // main-first
  if (!strcmp(what, "inspect"))
    return inspect();
  if (!strcmp(what, "loop"))
    printf("total %d\n", loop());
  if (!strcmp(what, "recurse"))
    return recurse(argc > 2 ? atoi(argv[2]) : 10) & 1;
  if (!strcmp(what, "threads"))
    threads();
  if (!strcmp(what, "crash"))
    *(volatile int *)0x10 = 1; // crash-here
  if (!strcmp(what, "kill"))
    kill(getpid(), SIGKILL);
  if (!strcmp(what, "exit"))
    return atoi(argv[2]);
  if (!strcmp(what, "wait")) {
    puts("waiting");
    fflush(stdout);
    for (volatile int go = 1; go;)
      usleep(1000); // wait-loop
  }
  if (!strcmp(what, "show")) {
    printf("%s|%s\n", argv[2], getenv("TOUR") ? getenv("TOUR") : "unset");
    fprintf(stderr, "problem \xc3\xa4\n");
    printf("%s\n", getcwd((char[4096]){0}, 4096));
  }
  return 0; // main-last
}
