/* An assertion fails. The handler of SIGABRT ends the program. */
#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void done(int sig) { (void)sig; _exit(0); }

static int positive(int x) {
	assert(x > 0 && "x");
	return x;
}

int main(int argc, char **argv) {
	(void)argv;
	signal(SIGABRT, done);
	return positive(argc - 1);
}
