// Does what its first argument says; each mode is one situation of a debuggee.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

volatile long counter;
volatile long hits;
volatile int stop_now;

__attribute__((noinline)) void place(void) { __asm__ volatile("nop\n nop"); }
__attribute__((noinline)) void work(void) { __atomic_fetch_add(&hits, 1, __ATOMIC_SEQ_CST); }
__attribute__((noinline)) void ready(void) { __asm__ volatile("nop"); }

static void on_signal(int s) { (void)s; __atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST); }

static void handle(int sig, int flags) {
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = flags};
	sigaction(sig, &sa, 0);
}

static void *loop_work(void *arg) {
	for (long i = 0; i < (long)arg; i++) work();
	return 0;
}
static void *nothing(void *arg) { return arg; }
static void *just_wait(void *arg) { pause(); return arg; }
static void *do_exec(void *arg) { char **v = arg; execv(v[0], v); return 0; }
static void *after_leader(void *arg) {
	// The leader is gone when its state is Z; wait for that.
	char path[64], line[256];
	snprintf(path, sizeof path, "/proc/%d/stat", getpid());
	for (;;) {
		FILE *f = fopen(path, "r");
		char *s = f ? fgets(line, sizeof line, f) : 0;
		if (f) fclose(f);
		if (s && strstr(s, ") Z")) break;
		sched_yield();
	}
	place();
	exit((int)(long)arg);
}
static unsigned long sum;
static void *compute(void *arg) {
	unsigned long x = (unsigned long)arg + 1;
	for (long i = 0; i < 60 * 1000 * 1000L; i++) x = x * 6364136223846793005UL + 1442695040888963407UL;
	__atomic_fetch_xor(&sum, x, __ATOMIC_SEQ_CST);
	return 0;
}

int main(int argc, char **argv) {
	const char *m = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 0;
	pthread_t t[1100];
	if (!strcmp(m, "exit")) return (int)n;
	if (!strcmp(m, "address")) { printf("%p %p\n", (void *)main, (void *)&m); return 0; }
	if (!strcmp(m, "raise")) { raise((int)n); return 3; }
	if (!strcmp(m, "int3")) { __asm__ volatile("int3"); return 4; }
	if (!strcmp(m, "segv")) { *(volatile int *)0x1234 = 1; return 1; }
	if (!strcmp(m, "segvhandled")) { // the handler unmaps nothing: it exits
		struct sigaction sa = {.sa_handler = (void (*)(int))_exit};
		sigaction(SIGSEGV, &sa, 0);
		*(volatile int *)0x1234 = 1;
	}
	if (!strcmp(m, "threads")) { // 8 threads, n rounds each
		for (int i = 0; i < 8; i++) pthread_create(&t[i], 0, loop_work, (void *)n);
		for (int i = 0; i < 8; i++) pthread_join(t[i], 0);
		printf("%ld\n", hits);
		return 0;
	}
	if (!strcmp(m, "alarm")) { // a timer of a millisecond until n have been counted
		handle(SIGALRM, SA_RESTART);
		struct itimerval it = {{0, 1000}, {0, 1000}};
		setitimer(ITIMER_REAL, &it, 0);
		while (counter < n) work();
		it.it_value.tv_usec = 0;
		setitimer(ITIMER_REAL, &it, 0);
		printf("%ld %ld\n", counter, hits);
		return 0;
	}
	if (!strcmp(m, "usr1")) {
		handle(SIGUSR1, 0);
		place();
		raise(SIGUSR1);
		return (int)counter;
	}
	if (!strcmp(m, "spin")) { ready(); while (!stop_now) counter++; return 7; }
	if (!strcmp(m, "sleep")) {
		struct timespec ts = {0, n * 1000000L};
		ready();
		int r = nanosleep(&ts, 0);
		return r == 0 ? 5 : 6;
	}
	if (!strcmp(m, "read")) {
		char c = 0;
		ready();
		ssize_t r = read(0, &c, 1);
		return r == 1 ? c : 99;
	}
	if (!strcmp(m, "forks")) { // n children, each of which executes place()
		int bad = 0;
		for (long i = 0; i < n; i++) {
			pid_t pid = fork();
			if (pid == 0) { place(); _exit(42); }
			int st;
			while (waitpid(pid, &st, 0) < 0) ;
			bad += !(WIFEXITED(st) && WEXITSTATUS(st) == 42);
			place();
		}
		return bad;
	}
	if (!strcmp(m, "vforks")) {
		int bad = 0;
		for (long i = 0; i < n; i++) {
			pid_t pid = vfork();
			if (pid == 0) { place(); execl(argv[0], argv[0], "exit", "42", (char *)0); _exit(1); }
			int st;
			while (waitpid(pid, &st, 0) < 0) ;
			bad += !(WIFEXITED(st) && WEXITSTATUS(st) == 42);
			place();
		}
		return bad;
	}
	if (!strcmp(m, "exec")) { char *v[] = {argv[0], "exit", "9", 0}; execv(v[0], v); }
	if (!strcmp(m, "execthread")) {
		static char *v[] = {0, "exit", "9", 0};
		v[0] = argv[0];
		for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, just_wait, 0);
		pthread_create(&t[4], 0, do_exec, v);
		pause();
	}
	if (!strcmp(m, "leader")) {
		pthread_create(&t[0], 0, after_leader, (void *)n);
		pthread_exit(0);
	}
	if (!strcmp(m, "many")) {
		for (int i = 0; i < n; i++)
			if (pthread_create(&t[i], 0, just_wait, 0)) return 1;
		ready();
		return 0;
	}
	if (!strcmp(m, "manyidle")) {
		for (int i = 0; i < n; i++)
			if (pthread_create(&t[i], 0, just_wait, 0)) return 1;
		printf("%d\n", getpid());
		fflush(stdout);
		for (;;) pause();
	}
	if (!strcmp(m, "protnone")) {
		char *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		strcpy(p, "hidden");
		mprotect(p, 4096, PROT_NONE);
		counter = (long)p;
		ready();
		return 0;
	}
	if (!strcmp(m, "churn")) { // threads that end as soon as they begin
		for (int i = 0; i < n; i++) {
			if (pthread_create(&t[0], 0, nothing, 0)) return 1;
			pthread_join(t[0], 0);
			place();
		}
		return 0;
	}
	if (!strcmp(m, "compute")) {
		printf("%d\n", getpid());
		fflush(stdout);
		for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, compute, (void *)i);
		for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
		printf("%lx\n", sum);
		return 0;
	}
	if (!strcmp(m, "idle")) {
		printf("%d\n", getpid());
		fflush(stdout);
		for (;;) pause();
	}
	if (!strcmp(m, "rep")) {
		static char a[4096], b[4096];
		memset(a, 7, sizeof a);
		void *d = b, *s = a;
		long c = sizeof a;
		__asm__ volatile(".globl rep_here\nrep_here: rep movsb" : "+D"(d), "+S"(s), "+c"(c) : : "memory");
		return memcmp(a, b, sizeof a) != 0;
	}
	if (!strcmp(m, "flags")) {
		unsigned long f, r11;
		place();
		__asm__ volatile("pushfq\n pop %0" : "=r"(f));
		__asm__ volatile("mov $39, %%eax\n syscall\n mov %%r11, %0" : "=r"(r11) : : "rax", "rcx", "r11", "memory");
		return (f >> 8 & 1) | (r11 >> 8 & 1) << 1;
	}
	return 100;
}
