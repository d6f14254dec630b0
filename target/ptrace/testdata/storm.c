// A program that does one kind of work as fast as it can and counts it for itself, in a file that the test maps.
//
//     storm MODE COUNTERS [NUMBER [NUMBER]]
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HITS, HARM, DONE, SIGNALS, CHILDREN };
static volatile long *c;
static long number, second;
extern char **environ;

static void add(int i) { __atomic_add_fetch(&c[i], 1, __ATOMIC_SEQ_CST); }

// The place of the breakpoint. It counts after the breakpoint's instruction.
__attribute__((noinline)) long place(long n) {
	__asm__ volatile("" ::: "memory");
	add(HITS);
	return n + 1;
}

// A place that children call, which share its code: not counted, and it must not harm them.
__attribute__((noinline)) long shared(long n) {
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

// Functions whose first instruction no debugger emulates.
__attribute__((naked, noinline)) void vector(void *p) { __asm__("pxor %xmm1, %xmm1\n\tmovaps %xmm1, %xmm2\n\tret"); }
__attribute__((naked, noinline)) void load(void *p) { __asm__("movups (%rdi), %xmm0\n\tret"); }
__attribute__((naked, noinline)) int divide(int n) { __asm__("divl %edi\n\tret"); }

static void *vectors(void *arg) {
	for (long i = 0; i < number; i++) { vector(0); add(HITS); }
	return arg;
}

static void *calls(void *arg) {
	for (long i = 0; i < number || number < 0; i++) place(i);
	return arg;
}
static void *once(void *arg) { place(0); return arg; }
static void *idle(void *arg) { for (;;) pause(); return arg; }
static void *spin(void *arg) { for (;;) c[7]++; return arg; }

static pthread_t start(void *(*f)(void *)) {
	pthread_attr_t a;
	pthread_t t;
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 64 << 10);
	while (pthread_create(&t, &a, f, 0)) sched_yield();
	return t;
}

static int child(void *arg) {
	long n = 0;
	for (int i = 0; i < 3; i++) n = shared(n);
	_exit(n == 3 ? 7 : 1);
}

static int sleeper(void *arg) {
	struct timespec ts = {number, 0};
	add(CHILDREN);
	nanosleep(&ts, 0);
	return child(arg);
}

static void check(pid_t pid, int want) {
	int st = 0;
	pid_t got;
	while ((got = waitpid(pid, &st, __WALL)) < 0 && errno == EINTR) {}
	add(CHILDREN);
	if (pid < 0 || got != pid || !WIFEXITED(st) || WEXITSTATUS(st) != want) add(HARM);
}

static void children(long i) {
	static char stack[64 << 10] __attribute__((aligned(16)));
	char *argv[] = {"true", 0};
	pid_t pid;
	switch (i % 6) {
	case 0: if ((pid = fork()) == 0) child(0); check(pid, 7); break;
	case 1: if ((pid = vfork()) == 0) { shared(0); execv("/bin/true", argv); _exit(1); } check(pid, 0); break;
	case 2: if (posix_spawn(&pid, "/bin/true", 0, 0, argv, environ)) pid = -1; check(pid, 0); break;
	case 3: check(clone(child, stack + sizeof stack, CLONE_VM | SIGCHLD, 0), 7); break;
	case 4: // a double fork
		if ((pid = fork()) == 0) {
			pid_t inner = fork();
			if (inner == 0) child(0);
			int st;
			waitpid(inner, &st, 0);
			_exit(WIFEXITED(st) && WEXITSTATUS(st) == 7 ? 7 : 1);
		}
		check(pid, 7);
		break;
	case 5: if ((pid = vfork()) == 0) { shared(0); _exit(9); } check(pid, 9); break;
	}
}

static void on_signal(int n) { add(SIGNALS); }

int main(int argc, char **argv) {
	const char *mode = argv[1];
	int fd = open(argv[2], O_RDWR);
	c = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (c == MAP_FAILED) return 99;
	if (argc > 3) number = atol(argv[3]);
	if (argc > 4) second = atol(argv[4]);
	if (!strcmp(mode, "tick")) { // one hit each so many microseconds
		for (;;) {
			place(0);
			if (number) usleep(number);
		}
	} else if (!strcmp(mode, "threads")) { // second threads, each with number calls
		pthread_t t[2000];
		for (long i = 0; i < second; i++) t[i] = start(calls);
		for (long i = 0; i < second; i++) pthread_join(t[i], 0);
	} else if (!strcmp(mode, "vector")) {
		pthread_t t[64];
		for (long i = 0; i < second; i++) t[i] = start(vectors);
		for (long i = 0; i < second; i++) pthread_join(t[i], 0);
	} else if (!strcmp(mode, "fault")) {
		if (number) divide(0); else load((void *)16);
	} else if (!strcmp(mode, "idle")) { // one thread calls, the others sleep
		for (long i = 0; i < second; i++) start(idle);
		calls(0);
	} else if (!strcmp(mode, "busy")) { // one thread calls now and then, the others spin
		for (long i = 0; i < second; i++) start(spin);
		for (;;) { place(0); usleep(number); }
	} else if (!strcmp(mode, "churn")) { // number threads, one after the other, two at a time
		for (long i = 0; i < number || number < 0; i += 2) {
			pthread_t a = start(once), b = start(once);
			pthread_join(a, 0);
			pthread_join(b, 0);
		}
	} else if (!strcmp(mode, "children")) {
		for (long i = 0; i < number || number < 0; i++) { children(i); place(i); }
	} else if (!strcmp(mode, "signals")) { // a signal each second microseconds while it calls
		struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
		struct itimerval it = {{0, second}, {0, second}};
		sigaction(SIGALRM, &sa, 0);
		setitimer(ITIMER_REAL, &it, 0);
		calls(0);
	} else if (!strcmp(mode, "dlopen")) { // a library comes and goes
		for (long i = 0; i < number || number < 0; i++) {
			void *lib = dlopen("libm.so.6", RTLD_NOW);
			if (!lib || !dlsym(lib, "cos")) add(HARM);
			place(i);
			if (lib) dlclose(lib);
		}
	} else if (!strcmp(mode, "vforksleep")) { // a child of vfork that sleeps for number seconds
		pid_t pid = vfork();
		if (pid == 0) {
			sleeper(0);
		}
		check(pid, 7);
	} else if (!strcmp(mode, "clonesleep")) { // a child that shares the memory, and sleeps for number seconds
		static char stack[64 << 10] __attribute__((aligned(16)));
		pid_t pid = clone(sleeper, stack + sizeof stack, CLONE_VM | SIGCHLD, 0);
		for (long i = 0; i < 10 * number; i++) { place(i); usleep(100000); }
		check(pid, 7);
	} else if (!strcmp(mode, "exec")) { // executes itself number times
		place(0);
		if (number > 0) {
			char left[32];
			int n = 0;
			long v = number - 1;
			char tmp[32];
			do tmp[n++] = '0' + v % 10; while (v /= 10);
			for (int i = 0; i < n; i++) left[i] = tmp[n - 1 - i];
			left[n] = 0;
			if (number % 2) start(idle);
			execl(argv[0], argv[0], mode, argv[2], left, (char *)0);
			return 98;
		}
	}
	add(DONE);
	return 5;
}
