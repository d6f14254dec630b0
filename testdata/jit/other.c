// code.c with other names and frames.
typedef long (*callback)(long);

static __attribute__((noinline)) long other_inner(callback f, long n)
{
	volatile long here[9] = {n, n + 1, n + 2};
	long r = f(here[1]); /* calls back */
	return r + here[2];
}

long other_outer(callback f, long n)
{
	long kept = n * 3;
	long r = other_inner(f, n + 1); /* calls inner */
	return r + kept;
}
