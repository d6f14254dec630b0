// A program whose breakpoint is on an instruction that takes long, faults or sleeps. It tells of itself in a file that the test maps.
//
//     midstep MODE COUNTERS [NUMBER]
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { HITS, HARM, DONE, SIGNALS, CHILDREN, READY, GO, CRASH, PC, ADDRESS, ERROR };
static volatile long *c;
static long number;

static void add(int i) { __atomic_add_fetch(&c[i], 1, __ATOMIC_SEQ_CST); }

// The first instruction of each is the one under the breakpoint. Those up to divide are executed out of line.
#define NAKED __attribute__((naked, noinline))
NAKED void load(void *p) { __asm__("movups (%rdi), %xmm0\n\tret"); }
NAKED void store(void *p) { __asm__("movups %xmm0, (%rdi)\n\tret"); }
NAKED void divide(void *p) { __asm__("divl %edi\n\tret"); }
// These are emulated when they do not fault.
NAKED void read_word(void *p) { __asm__("mov (%rdi), %rax\n\tret"); }
NAKED void write_word(void *p) { __asm__("mov %rax, (%rdi)\n\tret"); }
NAKED void add_word(void *p) { __asm__("addq $1, (%rdi)\n\tret"); }
NAKED void push_word(void *p) { __asm__("mov %rsp, %rax\n\tmov %rdi, %rsp\n\t.globl push_here\npush_here: push %rax\n\tpop %rax\n\tmov %rax, %rsp\n\tret"); }
NAKED void call_word(void *p) { __asm__("call *(%rdi)\n\tret"); }
// These are neither.
NAKED void illegal(void *p) { __asm__("ud2\n\tret"); }
NAKED void halt(void *p) { __asm__("hlt\n\tret"); }
NAKED void copy(void *to, void *from, long n) { __asm__("mov %rdx, %rcx\n\t.globl copy_here\ncopy_here: rep movsb\n\tret"); }
NAKED long sleeps(long nr, long a, long b) {
	__asm__("mov %rdi, %rax\n\tmov %rsi, %rdi\n\tmov %rdx, %rsi\n\t.globl sleeps_here\nsleeps_here: syscall\n\tret");
}
// A vector instruction that is executed again and again, out of line.
NAKED void vector(void *p) { __asm__("pxor %xmm1, %xmm1\n\tmovaps %xmm1, %xmm2\n\tret"); }

// on_fault notes where the program was, and goes on behind the function.
static void on_fault(int n, siginfo_t *info, void *u) {
	greg_t *r = ((ucontext_t *)u)->uc_mcontext.gregs;
	c[PC] = r[REG_RIP];
	c[ADDRESS] = (long)info->si_addr;
	add(SIGNALS);
	if (number == 6) r[REG_RSP] = r[REG_RAX]; // push_word
	r[REG_RIP] = *(long *)r[REG_RSP];
	r[REG_RSP] += 8;
}

// on_signal notes where the program was.
static void on_signal(int n, siginfo_t *info, void *u) {
	greg_t pc = ((ucontext_t *)u)->uc_mcontext.gregs[REG_RIP];
	c[PC] = pc;
	if (pc >= c[16] && pc < c[17]) c[18] = pc; // in the debugger's place
	add(SIGNALS);
}

static void catch(int sig, void (*f)(int, siginfo_t *, void *)) {
	struct sigaction sa = {.sa_sigaction = f, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigaction(sig, &sa, 0);
}

static void alternate(void) {
	stack_t st = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	sigaltstack(&st, 0);
}

static void *blocked(void *page) {
	alternate();
	load(page); // until somebody provides the page
	add(HITS);
	return page;
}

static void *crash(void *arg) {
	while (!c[CRASH]) usleep(500);
	if (number) raise(number);
	return arg;
}

static void *vectors(void *arg) {
	alternate();
	for (long i = 0; i < number; i++) { vector(0); add(HITS); }
	return arg;
}

int main(int argc, char **argv) {
	const char *mode = argv[1];
	int fd = open(argv[2], O_RDWR);
	c = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (c == MAP_FAILED) return 99;
	if (argc > 3) number = atol(argv[3]);
	alternate();
	catch(SIGUSR1, on_signal);
	if (!strcmp(mode, "blocked")) { // an instruction waits in a page fault until counter GO is set
		int u = syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */);
		struct uffdio_api api = {.api = UFFD_API};
		char *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		struct uffdio_register reg = {{(long)page, 4096}, UFFDIO_REGISTER_MODE_MISSING, 0};
		if (u < 0 || ioctl(u, UFFDIO_API, &api) || ioctl(u, UFFDIO_REGISTER, &reg)) { c[ERROR] = 1; return 97; }
		pthread_t t, other;
		pthread_create(&other, 0, crash, 0);
		pthread_create(&t, 0, blocked, page);
		while (!c[GO]) usleep(500);
		struct uffdio_zeropage zero = {{(long)page, 4096}, 0, 0};
		ioctl(u, UFFDIO_ZEROPAGE, &zero);
		pthread_join(t, 0);
	} else if (!strcmp(mode, "fault")) { // number says which instruction faults; the program handles that
		static void (*const list[])(void *) = {load, store, divide, read_word, write_word, add_word, push_word, call_word, illegal, halt};
		for (int i = 0; i < 2; i++) {
			int sig[] = {SIGSEGV, SIGFPE, SIGILL, SIGBUS};
			catch(sig[2 * i], on_fault);
			catch(sig[2 * i + 1], on_fault);
		}
		list[number](number == 2 ? 0 : (void *)16);
		add(HITS);
	} else if (!strcmp(mode, "copy")) { // number bytes by one instruction
		char *a = calloc(1, number), *b = calloc(1, number);
		memset(a, 7, number);
		add(READY);
		copy(b, a, number);
		if (memcmp(a, b, number)) add(HARM);
		add(HITS);
	} else if (!strcmp(mode, "sleep")) { // number seconds in a system call under the breakpoint
		struct timespec ts = {number, 0};
		add(READY);
		c[ADDRESS] = sleeps(SYS_nanosleep, (long)&ts, 0);
		add(HITS);
	} else if (!strcmp(mode, "vector")) {
		pthread_t t[4];
		for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, vectors, 0);
		for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
	}
	add(DONE);
	return 5;
}
