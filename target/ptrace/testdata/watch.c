// Programs for watchpoints: watch MODE.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sys/wait.h>
#include <unistd.h>

volatile long word;
volatile char bytes[16];
volatile long sum;
volatile int go_on;
volatile long written[64];

__attribute__((noinline)) void store(long v) { word = v; }
__attribute__((noinline)) long load(void) { return word; }

static void *writer(void *arg) {
	long n = (long)arg;
	for (long i = 1; i <= 1000; i++) {
		store(n * 10000 + i);
		written[n]++;
	}
	return 0;
}

int main(int argc, char **argv) {
	const char *mode = argc > 1 ? argv[1] : "";
	if (!strcmp(mode, "plain")) {
		store(1);
		store(1); // the same value
		store(2);
		sum = load();
		bytes[3] = 7;
		bytes[9] = 8;
	} else if (!strcmp(mode, "threads")) {
		pthread_t t[4];
		for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, writer, (void *)i);
		for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
		printf("%ld %ld %ld %ld\n", written[0], written[1], written[2], written[3]);
	} else if (!strcmp(mode, "fork")) {
		for (int i = 0; i < 3; i++) {
			pid_t p = i == 2 ? vfork() : fork();
			if (p == 0) {
				store(100 + i);
				_exit(load() == 100 + i ? 0 : 1);
			}
			int st;
			waitpid(p, &st, 0);
			printf("%d ", st);
		}
		store(5);
		puts("done");
	} else if (!strcmp(mode, "exec")) {
		store(1);
		execl("/proc/self/exe", argv[0], "loop", (char *)0);
	} else if (!strcmp(mode, "loop")) {
		for (long i = 0; i < 200000; i++) store(i);
		puts("ended");
	} else if (!strcmp(mode, "forever")) {
		printf("%d\n", getpid());
		fflush(stdout);
		for (long i = 0;; i++) {
			store(i);
			usleep(100);
			if (go_on) break;
		}
	} else if (!strcmp(mode, "slowly")) {
		printf("%d\n", getpid());
		fflush(stdout);
		for (long i = 0; i < 12; i++) {
			usleep(250000);
			store(i);
		}
	} else if (!strcmp(mode, "forks")) { // the child writes when its parent's debugger is gone
		printf("%d\n", getpid());
		fflush(stdout);
		while (!go_on)
			;
		pid_t child = fork();
		if (child == 0) {
			usleep(300000);
			store(1);
			_exit(0);
		}
		int status = 0;
		waitpid(child, &status, 0);
		return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	}
	return 0;
}
