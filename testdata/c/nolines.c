// A function without line numbers that calls one with line numbers.
volatile int sink;

__attribute__((noinline, used)) void callback(void) {
	sink++;
}

void nolines(void);
__asm__(".pushsection .text.nolines,\"ax\",@progbits\n"
	".type nolines, @function\n"
	"nolines:\n"
	"\tsub $8, %rsp\n"
	"\tcall callback\n"
	"\tadd $8, %rsp\n"
	"\tret\n"
	".size nolines, .-nolines\n"
	".popsection");

int main(void) {
	nolines();
	return sink == 0;
}
