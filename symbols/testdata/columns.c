int calls;
int one(void) { return ++calls; }
int main(void) {
	int x = 0; x += one(); x *= 7; for (int i = 0; i < 3; i++) x += one();

	return x;
}
