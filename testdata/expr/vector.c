// Registers of AVX-512 with known values. It ends with 3 where the processor has none.
#include <string.h>

static float lanes[16];
static unsigned long mask = 0xa5a5000012345678UL;

__attribute__((target("avx512f,avx512bw"))) static void load(void) {
	__asm__ volatile("vmovups %0, %%zmm1\n\tvmovups %0, %%zmm17\n\tkmovq %1, %%k1\n\tkmovq %1, %%k7\n\tfldpi\n\tfld1"
			 : : "m"(lanes), "m"(mask));
	__asm__ volatile("nop"); // stop
	__asm__ volatile("fninit");
}

int main(void) {
	for (int i = 0; i < 16; i++)
		lanes[i] = i + 0.5f;
	if (!__builtin_cpu_supports("avx512bw"))
		return 3;
	load();
	return 0;
}
