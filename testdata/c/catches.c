/* Events that a debugger can catch: children, libraries, signals, threads, another program. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void quiet(int sig) { (void)sig; }

static void *thread(void *arg) { return arg; }

int main(int argc, char **argv) {
	if (argc > 1 && !strcmp(argv[1], "done"))
		return 0;
	pid_t child = fork();
	if (child == 0)
		_exit(3);
	int status = 0;
	if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3)
		return 1;
	child = vfork();
	if (child == 0)
		_exit(4);
	if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 4)
		return 2;
	signal(SIGUSR1, quiet);
	raise(SIGUSR1);
	pthread_t t;
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	void *lib = dlopen("libm.so.6", RTLD_NOW);
	if (!lib)
		return 3;
	dlclose(lib);
	execl("/proc/self/exe", argv[0], "done", NULL);
	return 4;
}
