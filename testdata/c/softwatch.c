// Threads that change variables, for watchpoints that are stepped.
// softwatch loop: one thread, for ever. softwatch N: two threads write N values each to a large array,
// in a random order of their own; each write is a line of its own, and is printed at the end.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

long watched;
static int array[100];
static long order; // counts writes
static long made[2][4000];
static int rounds;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *arg) {
	int who = (int)(long)arg;
	unsigned seed = who + 1;
	for (int i = 0; i < rounds; i++) {
		seed = seed * 1103515245 + 12345;
		pthread_mutex_lock(&lock);
		array[seed >> 16 & 63] = who * 100000 + i + 1; // the write
		made[who][i] = order++;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static int sum(int n) {
	register int total = 0;
	for (int i = 0; i < n; i++)
		total += i;
	return total;
}

int main(int argc, char **argv) {
	if (argc > 1 && strcmp(argv[1], "loop") == 0)
		for (volatile int i = 0;; i++)
			watched = 1;
	rounds = argc > 1 ? atoi(argv[1]) : 10;
	pthread_t t[2];
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, run, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%ld %d\n", order, sum(5));
	return 0;
}
