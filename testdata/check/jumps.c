// setjmp and longjmp, siglongjmp out of handlers on both stacks, makecontext and swapcontext between
// three contexts, nested handlers.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static jmp_buf plain;
static sigjmp_buf out;
static volatile int sum, nested;
static char alt[1 << 16];

__attribute__((noinline)) static void dig(int k) {
	volatile char pad[100];
	pad[k % 100] = k;
	if (k == 0)
		longjmp(plain, 1);
	dig(k - 1);
	sum += pad[k % 100];
}

static void leave(int sig) { siglongjmp(out, sig); }

static void second(int sig) { sum += sig; }

static void first(int sig) {
	nested++;
	raise(SIGUSR2);
	sum += sig;
}

static ucontext_t home, ctx[3];
static char stacks[3][1 << 16];

__attribute__((noinline)) static void pass(int me, int depth) {
	if (depth > 0) {
		pass(me, depth - 1);
		sum += depth;
		return;
	}
	swapcontext(&ctx[me], &ctx[(me + 1) % 3]);
}

static void body(int me) {
	for (int i = 0; i < 5; i++)
		pass(me, i);
	if (me == 2)
		setcontext(&home);
	swapcontext(&ctx[me], &ctx[(me + 1) % 3]);
}

static void handle(int sig, void (*f)(int), int flags) {
	struct sigaction sa = {.sa_handler = f, .sa_flags = flags};
	sigaction(sig, &sa, 0);
}

int main(void) {
	for (int i = 0; i < 5; i++)
		if (!setjmp(plain))
			dig(10 + i);
	stack_t ss = {.ss_sp = alt, .ss_size = sizeof alt};
	sigaltstack(&ss, 0);
	handle(SIGUSR1, first, 0);
	handle(SIGUSR2, second, SA_ONSTACK);
	for (int i = 0; i < 20; i++)
		raise(SIGUSR1);
	for (int i = 0; i < 4; i++) {
		handle(SIGUSR1, leave, i % 2 ? SA_ONSTACK : 0);
		if (!sigsetjmp(out, 1))
			raise(SIGUSR1);
	}
	for (int i = 0; i < 3; i++) {
		getcontext(&ctx[i]);
		ctx[i].uc_stack.ss_sp = stacks[i];
		ctx[i].uc_stack.ss_size = sizeof stacks[i];
		ctx[i].uc_link = &home;
		makecontext(&ctx[i], (void (*)(void))body, 1, i);
	}
	volatile int back = 0;
	getcontext(&home);
	if (!back++)
		setcontext(&ctx[0]);
	printf("%d\n", sum);
	return 0;
}
