// Sleeps for ever.
#include <time.h>
int main(void) {
	struct timespec t = {1000000, 0};
	for (;;)
		nanosleep(&t, 0);
}
