// A test runner: children three levels deep, made by fork, by vfork and exec, and by posix_spawn.
// forktree A B C [crash N]: A children, each has B, each has C. The one with the number N crashes.
// It exits with 0 if all others did, and prints how many there were.
#define _GNU_SOURCE
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static int crash = -1;
int done;

__attribute__((noinline)) void work(int level, int number) {
	done += level;
	if (level == 3 && number == crash)
		*(volatile int *)0 = number; // the crash
}

static int run(int level, int number, const int *width);

static pid_t start(int level, int number, const int *width) {
	pid_t pid;
	if (level == 3 && number % 3 != 0) { // a leaf may be another program
		char n[16], c[16];
		snprintf(n, sizeof n, "%d", number);
		snprintf(c, sizeof c, "%d", crash);
		char *argv[] = {"forktree", "leaf", n, c, NULL};
		if (number % 3 == 1)
			return posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ) ? -1 : pid;
		if ((pid = vfork()) == 0) {
			execv("/proc/self/exe", argv);
			_exit(127);
		}
		return pid;
	}
	if ((pid = fork()) == 0)
		_exit(run(level, number, width));
	return pid;
}

static int run(int level, int number, const int *width) {
	int failed = 0, status;
	work(level, number);
	if (level == 3)
		return 0;
	pid_t pids[512];
	int n = width[level] < 512 ? width[level] : 512;
	for (int i = 0; i < n; i++)
		pids[i] = start(level + 1, number * width[level] + i, width);
	for (int i = 0; i < n; i++)
		if (pids[i] < 0 || waitpid(pids[i], &status, 0) != pids[i] || !WIFEXITED(status) || WEXITSTATUS(status))
			failed++;
	return failed < 255 ? failed : 255;
}

int main(int argc, char **argv) {
	if (argc > 3 && strcmp(argv[1], "leaf") == 0) {
		crash = atoi(argv[3]);
		work(3, atoi(argv[2]));
		return 0;
	}
	if (argc < 4)
		return 2;
	int width[3] = {atoi(argv[1]), atoi(argv[2]), atoi(argv[3])};
	if (argc > 5)
		crash = atoi(argv[5]);
	int failed = run(0, 0, width);
	printf("%d\n", width[0] * (1 + width[1] * (1 + width[2])));
	return failed;
}
