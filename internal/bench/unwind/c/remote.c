/* libunwind-ptrace on a thread of another process: the time for a frame of the first walk and of the next ones. */
#include <libunwind-ptrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static int walk(unw_addr_space_t as, void *upt) {
	unw_cursor_t c;
	int n = 0;
	if (unw_init_remote(&c, as, upt) < 0)
		return 0;
	do
		n++;
	while (unw_step(&c) > 0);
	return n;
}

int main(int argc, char **argv) {
	int tid = argc > 1 ? atoi(argv[1]) : 0, rounds = argc > 2 ? atoi(argv[2]) : 1, status, n;
	if (ptrace(PTRACE_ATTACH, tid, 0, 0) < 0 || waitpid(tid, &status, __WALL) < 0) {
		perror("attach");
		return 1;
	}
	unw_addr_space_t as = unw_create_addr_space(&_UPT_accessors, 0);
	unw_set_caching_policy(as, UNW_CACHE_GLOBAL);
	void *upt = _UPT_create(tid);
	double a = now();
	n = walk(as, upt);
	printf("%d frames, first walk %.0f ns a frame", n, (now() - a) / n);
	a = now();
	for (int i = 0; i < rounds; i++)
		n = walk(as, upt);
	printf(", warm %.0f ns a frame\n", (now() - a) / n / rounds);
	ptrace(PTRACE_DETACH, tid, 0, 0);
	return 0;
}
