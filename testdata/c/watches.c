// Watched words: each thread writes random values to its own word, on one of two lines, and keeps a log of the
// changes.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define MOST 4000

volatile int word[THREADS];
static int log_value[THREADS][MOST], log_line[THREADS][MOST], changes[THREADS];
static int writes = 200;

static void note(int t, int line, int before) {
  if (word[t] != before) {
    log_value[t][changes[t]] = word[t];
    log_line[t][changes[t]++] = line;
  }
}

static void *work(void *arg) {
  int t = (int)(long)arg;
  unsigned seed = 17 * t + 1;
  for (int i = 0; i < writes; i++) {
    seed = seed * 1103515245 + 12345;
    int v = seed >> 16 & 3, before = word[t];
    if (seed >> 20 & 1) {
      word[t] = v; // first
      note(t, 1, before);
    } else {
      word[t] = v; // second
      note(t, 2, before);
    }
  }
  return 0;
}

struct node {
  int value;
  struct node *next;
};

static int deep(struct node *n, int depth) {
  int own = depth; // deep
  if (depth < 3)
    own += deep(n, depth + 1);
  n->value += own; // value
  own++;           // own
  return own;
}

int main(int argc, char **argv) {
  if (argc > 1)
    writes = atoi(argv[1]);
  struct node b = {2, 0}, a = {1, &b}, *p = &a; // nodes
  deep(&b, 0);
  p = &b; // moved
  p->value = 100;
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++)
    pthread_create(&threads[i], 0, work, (void *)i);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], 0);
  for (int t = 0; t < THREADS; t++)
    for (int i = 0; i < changes[t]; i++)
      printf("%d %d %d\n", t, log_line[t][i], log_value[t][i]);
  return p->value == 100 ? 0 : 1;
}
