// A program that does everything at once, and counts it. busy N: each of four threads makes N rounds.
// It exits with 0 if all its own checks hold, and prints its counts.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int rounds;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
long watched;
static int signals, forks, bad;

static void handler(int sig) { __atomic_add_fetch(&signals, 1, __ATOMIC_SEQ_CST); }

__attribute__((noinline)) long traced(int who, int i) { return who * 1000L + i; }
__attribute__((noinline)) long logged(int who, int i) { return who * 2000L + i; }

static void *run(void *arg) {
	int who = (int)(long)arg;
	volatile long sum = 0;
	for (int i = 0; i < rounds; i++) {
		sum += traced(who, i);
		if (i % 4 == 0)
			sum += logged(who, i);
		pthread_mutex_lock(&lock);
		watched++;
		pthread_mutex_unlock(&lock);
		syscall(SYS_getppid);
		if (i % 8 == 0)
			pthread_kill(pthread_self(), SIGUSR1);
		if (i % 64 == 0) {
			pid_t pid = fork();
			int status;
			if (pid == 0)
				_exit(7);
			__atomic_add_fetch(&forks, 1, __ATOMIC_SEQ_CST);
			if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
				__atomic_add_fetch(&bad, 1, __ATOMIC_SEQ_CST);
		}
	}
	return NULL;
}

int main(int argc, char **argv) {
	rounds = argc > 1 ? atoi(argv[1]) : 100;
	signal(SIGUSR1, handler);
	pthread_t t[4];
	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, run, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	printf("%ld %d %d\n", watched, signals, forks);
	return bad || watched != 4L * rounds || signals != 4 * ((rounds + 7) / 8);
}
