// Names that need the function, or the file, that they belong to.
static int hidden = 7;

int never(int x) {
	return x;
}

int twice(int x) {
	static int calls;
	int mine = x;
	calls++;
	return 2 * mine; // stop
}

int outer(int n) {
	int local = 5;
	return n ? outer(n - 1) : twice(local - 1);
}

int main(void) {
	int here = 1;
	return outer(2) + hidden + here + never(0);
}
