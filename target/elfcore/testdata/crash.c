// Dies of a fault in its second thread, with the main thread waiting.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

char marked[64] = "written in data";
const char constant[64] = "constant in a file";
char zeroed[8192];

__attribute__((noinline)) void crash(int *p) { *p = 42; }
static void *run(void *arg) { crash(arg); return 0; }

int main(int argc, char **argv) {
	(void)argv;
	strcpy(zeroed, "written in bss");
	if (argc > 1) { printf("%s %s\n", constant, marked); fflush(stdout); pause(); }
	pthread_t t;
	pthread_create(&t, 0, run, (void *)0x1234);
	pause();
}
