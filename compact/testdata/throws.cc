// Functions with an LSDA, of two personality routines with cleanups.cc's C.
extern void may();
extern int calls(int);
struct Guard {
	int n;
	explicit Guard(int n) : n(calls(n)) {}
	~Guard() { calls(n); }
};
int cleanup(int n)
{
	Guard g(n);
	may();
	return calls(n);
}
int catches(int n)
{
	try {
		may();
	} catch (int i) {
		return i + n;
	} catch (...) {
		return calls(n);
	}
	return 0;
}
int nested(int n)
{
	Guard a(n);
	try {
		Guard b(n + 1);
		may();
	} catch (const char *s) {
		Guard c(n + 2);
		may();
	}
	return n;
}
int plain(int n) { return n + 1; }
int tail(int n) { return calls(n + 1); }
int big(int n)
{
	char b[70000];
	Guard g(calls(int(long(b))));
	may();
	return b[n];
}
void rethrows() noexcept
{
	may();
}
template <int N> int made(int n)
{
	Guard g(n);
	may();
	return n + made<N - 1>(n);
}
template <> int made<0>(int) { return 0; }
int all(int n) { return made<200>(n); }
