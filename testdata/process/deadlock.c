// Deadlocks of several kinds. A watcher waits until every thread is blocked in the kernel, which only
// /proc shows, and raises SIGUSR2.
//
//	deadlock ring N | rwlock | self | join | child | recursive | errorcheck-robust | cond
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 64 };
pthread_mutex_t locks[MOST], a_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t rw_one = PTHREAD_RWLOCK_INITIALIZER, rw_two = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t all_hold;
static int count;
static volatile pid_t blocked[MOST + 2]; // threads and children that block
static volatile int block_count;
static pthread_t main_thread;

static void will_block(pid_t id) { blocked[__sync_fetch_and_add(&block_count, 1)] = id; }

static int is_blocked(pid_t id) {
	char path[64], text[64] = "";
	snprintf(path, sizeof path, "/proc/%d/syscall", id);
	FILE *f = fopen(path, "r");
	if (!f)
		return 0;
	char *line = fgets(text, sizeof text, f);
	fclose(f);
	return line && (!strncmp(text, "202 ", 4) || !strncmp(text, "61 ", 3));
}

static void *watch(void *p) {
	int want = (int)(long)p;
	for (int i = 0; i < want; i++) {
		while (block_count <= i || !blocked[i] || !is_blocked(blocked[i]))
			sched_yield();
	}
	raise(SIGUSR2);
	_exit(0);
}

static void watcher(int want) {
	pthread_t t;
	pthread_create(&t, 0, watch, (void *)(long)want);
	pthread_setname_np(t, "watcher");
}

static void *ring(void *p) {
	int i = (int)(long)p;
	pthread_mutex_lock(&locks[i]);
	pthread_barrier_wait(&all_hold);
	will_block(gettid());
	pthread_mutex_lock(&locks[(i + 1) % count]);
	return 0;
}

static void *write_one(void *p) {
	pthread_rwlock_wrlock(&rw_one);
	pthread_barrier_wait(&all_hold);
	will_block(gettid());
	pthread_rwlock_wrlock(&rw_two);
	return 0;
}

static void *read_one(void *p) {
	pthread_rwlock_wrlock(&rw_two);
	pthread_barrier_wait(&all_hold);
	will_block(gettid());
	pthread_rwlock_rdlock(&rw_one);
	return 0;
}

static void *lock_twice(void *p) {
	pthread_mutex_lock(&a_lock);
	will_block(gettid());
	pthread_mutex_lock(&a_lock);
	return 0;
}

static void *wait_for_main(void *p) {
	will_block(gettid());
	pthread_mutex_lock(&a_lock);
	return 0;
}

static void *condition(void *p) {
	pthread_mutex_lock(&a_lock);
	will_block(gettid());
	pthread_cond_wait(&never, &a_lock);
	return 0;
}

static void *start(pthread_t *t, void *(*f)(void *), long arg) {
	pthread_create(t, 0, f, (void *)arg);
	pthread_setname_np(*t, "worker");
	return 0;
}

static void set_kind(int type, int robust, int protocol) {
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, type);
	if (robust)
		pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setprotocol(&a, protocol);
	for (int i = 0; i < MOST; i++)
		pthread_mutex_init(&locks[i], &a);
}

int main(int argc, char **argv) {
	const char *mode = argv[1];
	pthread_t t[MOST];
	int n = argc > 2 ? atoi(argv[2]) : 2;
	count = n;
	pthread_barrier_init(&all_hold, 0, n);
	set_kind(PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_NONE);
	if (!strcmp(mode, "recursive"))
		set_kind(PTHREAD_MUTEX_RECURSIVE, 0, PTHREAD_PRIO_NONE);
	else if (!strcmp(mode, "robust"))
		set_kind(PTHREAD_MUTEX_NORMAL, 1, PTHREAD_PRIO_NONE);
	else if (!strcmp(mode, "inherit"))
		set_kind(PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_INHERIT);
	if (!strcmp(mode, "rwlock")) {
		start(&t[0], write_one, 0);
		start(&t[1], read_one, 0);
	} else if (!strcmp(mode, "self")) {
		n = 1;
		start(&t[0], lock_twice, 0);
	} else if (!strcmp(mode, "cond")) {
		n = 1;
		start(&t[0], condition, 0);
	} else if (!strcmp(mode, "join")) {
		pthread_mutex_lock(&a_lock);
		will_block(gettid());
		n = 1;
		start(&t[0], wait_for_main, 0);
		watcher(2);
		pthread_join(t[0], 0);
	} else if (!strcmp(mode, "child")) {
		pthread_mutex_t *m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		pthread_mutexattr_t a;
		pthread_mutexattr_init(&a);
		pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
		pthread_mutex_init(m, &a);
		pthread_mutex_lock(m);
		pid_t child = fork();
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL); // a test ends the parent only
			if (getppid() == 1)
				_exit(0);
			pthread_mutex_lock(m);
			_exit(0);
		}
		will_block(child);
		will_block(getpid());
		watcher(2);
		waitpid(child, 0, 0);
	} else
		for (long i = 0; i < n; i++)
			start(&t[i], ring, i);
	watcher(n);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], 0);
	return 0;
}
