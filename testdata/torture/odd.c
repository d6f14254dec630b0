// Comes to odd places, one for each argument, and dies there or waits.
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define OUT __attribute__((noinline, noclone))
volatile int sink;
static ucontext_t main_context, other_context;
static char other_stack[1 << 16], alt_stack[1 << 16];
static jmp_buf env;

OUT void stop(int k) {
  sink = k;
  abort();
}

// before is directly in front of faulty and has another frame; faulty dies at its first instruction.
void faulty(int);
asm(".text; .globl before, faulty; .type before,@function; .type faulty,@function\n"
    "before: .cfi_startproc; push %rbp; .cfi_def_cfa_offset 16; .cfi_offset rbp,-16; sub $64,%rsp; .cfi_def_cfa_offset 80\n"
    "  nop; nop; .cfi_endproc; .size before,.-before\n"
    "faulty: .cfi_startproc; movl $1,0; ret; .cfi_endproc; .size faulty,.-faulty\n");

OUT void on_signal(int s) { stop(s); }
OUT void on_first(int s) {
  raise(SIGUSR2);
  sink = s;
}

static void handle(int sig, void (*f)(int), int flags) {
  struct sigaction sa = {.sa_handler = f, .sa_flags = flags};
  sigaction(sig, &sa, 0);
}

OUT static void call(void (*f)(int), int k) {
  f(k);
  sink = k;
}

OUT __attribute__((noreturn)) static void no_return(int k) {
  stop(k);
  __builtin_unreachable();
}

OUT static void last_call(int k) {
  sink = k;
  no_return(k + 1);
}

OUT static void coroutine_work(int k) {
  volatile char room[100];
  room[k] = 1;
  swapcontext(&other_context, &main_context);
  stop(k + room[k]);
}

static void coroutine(void) { coroutine_work(7); }

OUT static int deep(int n) {
  if (n == 0)
    stop(1);
  return n == 0 ? 0 : deep(n - 1) + sink;
}

static void *deep_thread(void *n) {
  deep((int)(long)n);
  return 0;
}

OUT static void jumper(int k) {
  volatile char room[300];
  room[k & 127] = 3;
  longjmp(env, room[k & 127]);
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  if (!strcmp(how, "first")) {
    handle(SIGSEGV, on_signal, 0);
    call(faulty, 1);
  } else if (!strcmp(how, "null")) {
    call((void (*)(int))(long)sink, 1);
  } else if (!strcmp(how, "garbage")) {
    call((void (*)(int))0x123456789a, 1);
  } else if (!strcmp(how, "data")) {
    static char data[64] = {0xc3 - 256};
    call((void (*)(int))(long)data, 1);
  } else if (!strcmp(how, "noreturn")) {
    last_call(argc);
  } else if (!strcmp(how, "altstack") || !strcmp(how, "nested")) {
    stack_t ss = {.ss_sp = alt_stack, .ss_size = sizeof alt_stack};
    sigaltstack(&ss, 0);
    handle(SIGUSR2, on_signal, 0);
    handle(SIGUSR1, !strcmp(how, "nested") ? on_first : on_signal, SA_ONSTACK);
    raise(SIGUSR1);
  } else if (!strcmp(how, "coroutine")) {
    getcontext(&other_context);
    other_context.uc_stack.ss_sp = other_stack;
    other_context.uc_stack.ss_size = sizeof other_stack;
    makecontext(&other_context, coroutine, 0);
    swapcontext(&main_context, &other_context);
    swapcontext(&main_context, &other_context);
  } else if (!strcmp(how, "deep")) {
    deep(argc > 2 ? atoi(argv[2]) : 1000);
  } else if (!strcmp(how, "deepthread")) {
    pthread_attr_t attr;
    pthread_t p;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 256 << 20);
    pthread_create(&p, &attr, deep_thread, (void *)atol(argv[2]));
    pthread_join(p, 0);
  } else if (!strcmp(how, "jump")) {
    if (!setjmp(env))
      jumper(argc);
    stop(4);
  } else if (!strcmp(how, "time")) {
    struct timespec ts;
    for (int i = 0; i < 3; i++)
      clock_gettime(CLOCK_MONOTONIC, &ts);
    sink = ts.tv_nsec;
  } else if (!strcmp(how, "wait")) {
    puts("ready");
    fflush(stdout);
    pause();
  }
  return 0;
}
