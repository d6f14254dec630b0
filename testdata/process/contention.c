// Threads that contend for locks of all kinds for ever, always in the same order: no deadlock.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>

enum { LOCKS = 6, THREADS = 8 };
static pthread_mutex_t locks[LOCKS];
static pthread_rwlock_t rw[2] = {PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER};
static pthread_mutex_t cond_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
volatile long sum;

static void *brief(void *p) { return p; }

__attribute__((noinline)) void checkpoint(void) { sum++; }

static void *work(void *p) {
	unsigned seed = (unsigned)(long)p;
	for (int round = 1;; round++) {
		if (round % 20 == 0)
			checkpoint();
		int a = rand_r(&seed) % (LOCKS - 1), b = a + 1 + rand_r(&seed) % (LOCKS - 1 - a);
		pthread_mutex_lock(&locks[a]);
		sum++;
		pthread_mutex_lock(&locks[b]);
		for (int i = rand_r(&seed) % 200; i > 0; i--)
			sum++;
		pthread_mutex_unlock(&locks[b]);
		pthread_mutex_unlock(&locks[a]);
		if (rand_r(&seed) % 4 == 0) {
			pthread_rwlock_wrlock(&rw[0]);
			pthread_rwlock_wrlock(&rw[1]);
			sum++;
			pthread_rwlock_unlock(&rw[1]);
			pthread_rwlock_unlock(&rw[0]);
		} else {
			pthread_rwlock_rdlock(&rw[0]);
			pthread_rwlock_rdlock(&rw[1]);
			pthread_rwlock_unlock(&rw[1]);
			pthread_rwlock_unlock(&rw[0]);
		}
		if (rand_r(&seed) % 8 == 0) {
			pthread_mutex_lock(&cond_lock);
			pthread_cond_broadcast(&cond);
			struct timespec t = {0, 0};
			clock_gettime(CLOCK_REALTIME, &t);
			t.tv_nsec = (t.tv_nsec + 50000) % 1000000000;
			pthread_cond_timedwait(&cond, &cond_lock, &t);
			pthread_mutex_unlock(&cond_lock);
		}
		if (rand_r(&seed) % 64 == 0) {
			pthread_t t;
			pthread_create(&t, 0, brief, 0);
			pthread_join(t, 0);
		}
	}
	return p;
}

int main(void) {
	pthread_t t[THREADS];
	pthread_mutexattr_t kinds[3];
	for (int i = 0; i < 3; i++)
		pthread_mutexattr_init(&kinds[i]);
	pthread_mutexattr_settype(&kinds[1], PTHREAD_MUTEX_RECURSIVE);
	pthread_mutexattr_setrobust(&kinds[2], PTHREAD_MUTEX_ROBUST);
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&locks[i], &kinds[i % 3]);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], 0, work, (void *)i);
	pthread_join(t[0], 0);
	return 0;
}
