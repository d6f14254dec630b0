// Works, and has a handler for SIGUSR1 that works too: for dbg unwind check --signal-every.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int n;
static char alt[1 << 16];

static void handler(int sig) {
	char b[40];
	memset(b, n, sizeof b);
	n += b[3] ? 1 : 2;
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int main(int argc, char **argv) {
	stack_t ss = {.ss_sp = alt, .ss_size = sizeof alt};
	sigaltstack(&ss, 0);
	struct sigaction sa = {.sa_handler = handler, .sa_flags = SA_NODEFER | (argc > 1 ? SA_ONSTACK : 0)};
	sigaction(SIGUSR1, &sa, 0);
	puts("ready");
	int v[200];
	for (int i = 0; i < 200; i++)
		v[i] = i * 7919 % 200;
	qsort(v, 200, sizeof *v, compare);
	char *p = malloc(1000);
	for (int i = 0; i < 20; i++)
		snprintf(p, 1000, "%d %s %f", i, "text", v[i] / 3.0);
	puts(p);
	free(p);
	return 0;
}
