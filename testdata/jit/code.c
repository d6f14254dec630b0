// What host.c loads as if a just-in-time compiler had made it. Nothing in .text needs a relocation.
typedef long (*callback)(long);

static __attribute__((noinline)) long made_inner(callback f, long n)
{
	volatile long here[3] = {n, n + 1, n + 2};
	long r = f(here[1]); /* calls back */
	return r + here[2];
}

long made_outer(callback f, long n)
{
	long kept = n * 3;
	long r = made_inner(f, n + 1); /* calls inner */
	return r + kept;
}
