// Variables that optimised code keeps in some places only, for "info why".
#include <stdio.h>
#include <stdlib.h>
struct pair { int a, b; };
__attribute__((noinline)) void stop(int x) { __asm__ volatile("" :: "r"(x) : "memory", "rax","rcx","rdx","rsi","rdi","r8","r9","r10","r11"); }
__attribute__((noinline)) int work(int n, int m, const char *s) {
    int twice = n * 2;
    int dead = m + 1;
    stop(twice);
    int after = twice + 5;
    stop(after);
    struct pair p = {n, after};
    struct pair *pp = &p;
    stop(pp->a);
    stop(0);
    return after * 3;
}
__attribute__((noinline)) int lose(int gone, int kept) {
    stop(1);
    stop(kept);
    return kept;
}
int main(int argc, char **argv) { int *bad = (int *)8; printf("%d\n", work(argc, 7, argv[0]) + lose(argc + 1, 4)); return bad == (int *)argv; }
