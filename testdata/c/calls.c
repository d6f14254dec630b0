/* Four threads make system calls and count them, while signals interrupt them. Arguments: the number
   of calls of each thread. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { threads = 4 };
static int rounds;
static long called[threads], slept[threads];
static volatile int ended;

static void handler(int sig) { (void)sig; }

static void *work(void *arg) {
	long *calls = &called[(long)arg], *sleeps = &slept[(long)arg];
	for (int i = 0; i < rounds; i++) {
		syscall(SYS_getppid);
		++*calls;
		if (i % 50 == 0) {
			struct timespec t = {0, 200000};
			while (syscall(SYS_nanosleep, &t, &t) == -1 && errno == EINTR)
				++*sleeps;
			++*sleeps;
		}
	}
	__atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

int main(int argc, char **argv) {
	rounds = argc > 1 ? atoi(argv[1]) : 100;
	struct sigaction a = {.sa_handler = handler};
	sigaction(SIGUSR1, &a, NULL);
	pthread_t list[threads];
	for (long i = 0; i < threads; i++)
		pthread_create(&list[i], NULL, work, (void *)i);
	for (int i = 0; ended < threads; i++) {
		if (argc > 2)
			pthread_kill(list[i % threads], SIGUSR1);
		struct timespec t = {0, 1000000};
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	}
	long calls = 0, sleeps = 0;
	for (int i = 0; i < threads; i++) {
		pthread_join(list[i], NULL);
		calls += called[i];
		sleeps += slept[i];
	}
	printf("%ld %ld\n", calls, sleeps);
	return 0;
}
