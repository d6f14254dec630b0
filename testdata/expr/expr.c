// The fixture of session/testdata/expr/c.txt.
#include "expr.h"

int stop(void) { return zero; }

#ifndef JUDGE
int main(void) {
	stop();
	return 0; // stop
}
#endif
