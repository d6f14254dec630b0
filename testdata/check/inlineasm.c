/* The survey's example of imprecise call frame information: the compiler does not see that the assembly moves the
   stack pointer. */
__attribute__((noinline)) void foo(void)
{
	__asm__ volatile("subq $128, %rsp\n\tnop\n\taddq $128, %rsp");
}

int main(void)
{
	foo();
	return 0;
}
