/* Functions with tables of several kinds, for every compiler that there is. */
extern int other(int *, int, int);
extern int another(void *, long);

int leaf(int a) { return a * 3; }

int saves(int a, int b, int c)
{
	int x[4] = {a, b, c, a};
	int y = other(x, a, b);
	return other(x, b, c) + y * a + b + c + x[2];
}

int grows(int n)
{
	char *p = __builtin_alloca(n);
	return another(p, n) + n;
}

int cold(int a)
{
	if (__builtin_expect(a == 7, 0))
		return other(&a, 1, 2) + another(&a, 3);
	return a;
}
