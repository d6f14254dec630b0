// Dies inside a signal handler, so that a signal frame is on the stack.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

volatile int *nowhere;

__attribute__((noinline)) void in_handler(int sig) {
  if (sig == SIGSEGV)
    abort();
  _exit(3);
}

void handler(int sig) {
  in_handler(sig);
  _exit(4);
}

__attribute__((noinline)) int faulty(int x) {
  int y = x + 1;
  *nowhere = y;
  return y;
}

int main(int argc, char **argv) {
  static char stack[65536];
  struct sigaction sa;
  (void)argv;
  memset(&sa, 0, sizeof sa);
  sa.sa_handler = handler;
  if (argc > 1) {
    stack_t ss = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&ss, 0);
    sa.sa_flags = SA_ONSTACK;
  }
  sigaction(SIGSEGV, &sa, 0);
  return faulty(argc) == 5;
}
