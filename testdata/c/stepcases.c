// Cases for steps: what can happen inside the call that a step is over. The first argument names the function that runs.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int depth;
static jmp_buf env;
static sigjmp_buf senv;
static char *self;

static void jumper(int n) {
  if (n)
    longjmp(env, n);
  depth++;
}

static void between(int n) {
  jumper(n);
  depth++;
}

static void jump_same(void) {
  if (setjmp(env) == 0) {
    depth = 1;
    longjmp(env, 1);
  }
  depth = 2;
}

static void jump_callee(void) {
  if (setjmp(env) == 0) {
    depth = 1;
    between(1);
    depth = 9;
  } else {
    depth = 2;
  }
  depth = 3;
}

static void jump_inside(void) {
  jump_callee();
  depth = 4;
}

// raises sends a signal without the C library, which may have no line numbers.
static void raises(int sig) {
  long id, result;
  __asm__ volatile("syscall" : "=a"(id) : "a"(39) : "rcx", "r11", "memory");
  __asm__ volatile("syscall" : "=a"(result) : "a"(62), "D"(id), "S"((long)sig) : "rcx", "r11", "memory");
  depth += result;
}

static void on_signal(int sig) {
  depth += sig;
  siglongjmp(senv, 1);
}

static void jump_signal(void) {
  signal(SIGUSR1, on_signal);
  if (sigsetjmp(senv, 1) == 0) {
    depth = 1;
    raises(SIGUSR1);
    depth = 9;
  }
  depth = 2;
}

static void plain_handler(int sig) {
  depth += sig;
}

static void handled(void) {
  signal(SIGUSR1, plain_handler);
  depth = 1;
  raises(SIGUSR1); depth++;
  depth = 2;
}

static void *leaves(void *arg) {
  depth = 1;
  pthread_exit(arg);
  return NULL;
}

static void *works(void *arg) {
  depth++;
  leaves(arg);
  depth++;
  return NULL;
}

static void thread_exit(void) {
  pthread_t t;
  pthread_create(&t, NULL, works, NULL);
  pthread_join(t, NULL);
  depth = 2;
}

static void runs(void) {
  execl(self, self, "after", NULL);
}

static void executes(void) {
  depth = 1;
  runs();
  depth = 2;
}

static void after(void) {
  depth = 3;
}

static void forks(void) {
  pid_t p = fork();
  if (p == 0)
    _exit(3);
  waitpid(p, NULL, 0);
  depth = 1;
}

static void vforks(void) {
  pid_t p = vfork();
  if (p == 0)
    _exit(3);
  waitpid(p, NULL, 0);
  depth = 1;
}

static int factorial(int n) {
  if (n <= 1)
    return 1;
  int r = factorial(n - 1);
  return n * r;
}

static void recursion(void) {
  depth = factorial(5);
  depth++;
}

static inline __attribute__((always_inline)) int twice(int n) {
  int r = n;
  r += n;
  return r;
}

static void inlined(void) {
  depth = 1;
  depth = twice(depth);
  depth++;
}

static void library(void) {
  depth = (int)strlen("plt and ifunc");
  depth += atoi("12");
  depth++;
}

static void loop_line(void) {
  depth = 0;
  for (int i = 0; i < 1000; i++) depth += i;
  depth++;
}

static void loop_lines(void) {
  int i = 0;
  do {
    depth += i;
    i++;
  } while (i < 3);
  depth++;
}

static void call_loop(void) {
  for (int i = 0; i < 100; i++) factorial(3);
  depth++;
}

static int add(int a, int b) { return a + b; }

static void nested(void) {
  depth = add(add(1, 2), factorial(3));
  depth++;
}

static int (*pointer)(int) = factorial;

static void indirect(void) {
  depth = pointer(3) + add(1, 2);
  depth++;
}

static int compare(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

static void callback(void) {
  int list[] = {3, 1, 2};
  qsort(list, 3, sizeof list[0], compare);
  depth++;
}

static void crashes(void) {
  depth = 1;
  *(volatile int *)8 = 1;
  depth = 2;
}

static void crash_in_call(void) {
  crashes();
  depth = 3;
}

static void killed(void) {
  depth = 1;
  raises(SIGTERM);
  depth = 2;
}

static void ends(void) {
  depth = 1;
  exit(4);
}

static void switches(int n) {
  switch (n) {
  case 1:
    depth = 1;
    break;
  default:
    depth = 2;
  }
  goto out;
out:
  depth = 3;
}

static void branches(void) {
  switches(1);
  switches(2);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } cases[] = {
    {"jump_same", jump_same}, {"jump_callee", jump_callee}, {"jump_inside", jump_inside}, {"jump_signal", jump_signal}, {"handled", handled},
    {"thread_exit", thread_exit}, {"executes", executes}, {"after", after}, {"forks", forks}, {"vforks", vforks}, {"recursion", recursion},
    {"inlined", inlined}, {"library", library}, {"loop_line", loop_line}, {"loop_lines", loop_lines}, {"call_loop", call_loop},
    {"nested", nested}, {"indirect", indirect}, {"callback", callback}, {"crash_in_call", crash_in_call}, {"killed", killed}, {"ends", ends},
    {"branches", branches},
  };
  self = argv[0];
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    if (argc > 1 && !strcmp(argv[1], cases[i].name))
      cases[i].run();
  return 0;
}
