// Four threads, a mutex, a condition variable, thread-local storage.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static int whose, sum;
static __thread int own;

static void *work(void *arg) {
	int me = (int)(long)arg;
	for (int i = 0; i < 5; i++) {
		pthread_mutex_lock(&lock);
		while (whose % 4 != me)
			pthread_cond_wait(&turn, &lock);
		own += i;
		sum += own;
		whose++;
		pthread_cond_broadcast(&turn);
		pthread_mutex_unlock(&lock);
		free(malloc(100 + i));
	}
	return 0;
}

int main(void) {
	pthread_t t[4];
	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	printf("%d\n", sum);
	return 0;
}
