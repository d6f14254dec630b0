// The bare loop: what a false conditional hit costs a program in C that does nothing else. Tracer and program share a
// processor. It takes the byte out, steps, and puts it back.
//
//     bare ADDRESS PROGRAM ARGS...
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof one, &one);
	uint64_t at = strtoull(argv[1], 0, 16);
	pid_t pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(argv[2], argv + 2);
		_exit(1);
	}
	int st;
	waitpid(pid, &st, 0);
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL);
	long word = ptrace(PTRACE_PEEKTEXT, pid, at, 0), trap = (word & ~0xffL) | 0xcc;
	ptrace(PTRACE_POKETEXT, pid, at, trap);
	for (;;) {
		struct user_regs_struct r;
		ptrace(PTRACE_CONT, pid, 0, 0);
		if (waitpid(pid, &st, 0) != pid || !WIFSTOPPED(st)) return 0;
		ptrace(PTRACE_GETREGS, pid, 0, &r);
		if ((long)r.rdi == -5) return 2; // the condition
		r.rip = at;
		ptrace(PTRACE_SETREGS, pid, 0, &r);
		ptrace(PTRACE_POKETEXT, pid, at, word);
		ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
		waitpid(pid, &st, 0);
		ptrace(PTRACE_POKETEXT, pid, at, trap);
	}
}
