// Threads that call a function whose calls a tracepoint collects. tracing N: N calls by each.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct item { int thread; long number; double half; char tag[8]; };

static int rounds;

__attribute__((noinline)) long work(int number, const struct item *it, const char *text) {
	return it->number + number + text[0];
}

static void *run(void *arg) {
	struct item it = {(int)(long)arg, 0, 0, "tag"};
	long sum = 0;
	for (int i = 0; i < rounds; i++) {
		it.number = 10L * i;
		it.half = i / 2.0;
		sum += work(i, &it, i % 2 ? "odd" : "even");
	}
	return (void *)sum;
}

int main(int argc, char **argv) {
	pthread_t t[4];
	rounds = argc > 1 ? atoi(argv[1]) : 100;
	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, run, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}
