// Reads the lines of a file, and shows each to have. For checkpoints.
#include <stdio.h>

__attribute__((noinline)) void have(int i, const char *text) {
	static volatile int seen;
	seen += i + text[0];
}

int main(int argc, char **argv) {
	FILE *f = fopen(argc > 1 ? argv[1] : "/dev/null", "r");
	char line[8];
	if (f == NULL)
		return 1;
	setvbuf(f, NULL, _IONBF, 0);
	for (int i = 0; fgets(line, sizeof line, f) != NULL; i++)
		have(i, line);
	return 0;
}
