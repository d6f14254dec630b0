// Forks, vforks and spawns children that are let go, then becomes itself again with an argument, and ends with 3.
#define _GNU_SOURCE
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv) {
	int status;
	pid_t pid;
	if (argc > 1)
		return argv[1][0] - '0';
	if (fork() == 0)
		_exit(5);
	wait(&status);
	if (WEXITSTATUS(status) != 5)
		return 10;
	if (vfork() == 0)
		_exit(6);
	wait(&status);
	if (WEXITSTATUS(status) != 6)
		return 11;
	char *child[] = {argv[0], "7", 0};
	posix_spawn(&pid, argv[0], 0, 0, child, environ);
	wait(&status);
	if (WEXITSTATUS(status) != 7)
		return 12;
	execl(argv[0], argv[0], "3", (char *)0);
	return 13;
}
