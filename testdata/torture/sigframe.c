// Says what the kernel (or qemu in its place) leaves on the stack for a signal handler: for each kind
// of frame the address to which the handler returns, the code there, the stack, and what is true: the PC,
// the stack pointer and two registers of the instruction that was interrupted. Linked statically.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

typedef uintptr_t word;
static sigjmp_buf out;
static word pc, sp; // of the last frame with a context
static const char *mode;

static void dump(const char *what, word at, size_t n) {
  printf("%s %lx ", what, (unsigned long)at);
  for (size_t i = 0; i < n; i++)
    printf("%02x", ((unsigned char *)at)[i]);
  printf("\n");
}

static void tell(word cfa, word ra) {
  signal(SIGSEGV, SIG_DFL);
  printf("frame %s\n", mode);
  printf("truth %lx %lx\n", (unsigned long)pc, (unsigned long)sp);
  printf("return %lx %lx\n", (unsigned long)ra, (unsigned long)cfa);
  dump("code", ra & ~(word)1, 16);
#ifdef __aarch64__
  dump("stack", cfa - sizeof(word), 4720); // with the kernel's frame record
#else
  dump("stack", cfa - sizeof(word), 1200);
#endif
  siglongjmp(out, 1);
}

static void context(ucontext_t *uc) {
#if defined __x86_64__
  pc = uc->uc_mcontext.gregs[REG_RIP], sp = uc->uc_mcontext.gregs[REG_RSP];
#elif defined __i386__
  pc = uc->uc_mcontext.gregs[REG_EIP], sp = uc->uc_mcontext.gregs[REG_ESP];
#elif defined __aarch64__
  pc = uc->uc_mcontext.pc, sp = uc->uc_mcontext.sp;
#elif defined __arm__
  pc = uc->uc_mcontext.arm_pc, sp = uc->uc_mcontext.arm_sp;
#elif defined __riscv
  pc = uc->uc_mcontext.__gregs[REG_PC], sp = uc->uc_mcontext.__gregs[REG_SP];
#endif
}

#define HANDLERS(name, attribute)                                                              \
  attribute __attribute__((noinline)) static void name##_rt(int s, siginfo_t *i, void *uc) {   \
    context(uc);                                                                               \
    tell((word)__builtin_dwarf_cfa(), (word)__builtin_return_address(0));                      \
  }                                                                                            \
  attribute __attribute__((noinline)) static void name##_old(int s) {                          \
    tell((word)__builtin_dwarf_cfa(), (word)__builtin_return_address(0));                      \
  }
#ifdef __arm__
HANDLERS(on, __attribute__((target("arm"))))
HANDLERS(thumb, __attribute__((target("thumb"))))
#else
HANDLERS(on, )
#endif

// fault reads from 0 with known values in two registers that a function must preserve.
__attribute__((noinline)) static void fault(void) {
#if defined __x86_64__
  asm volatile("mov $0x5e71,%%ebx; mov $0x5e72,%%r12d; mov 0,%%eax" ::: "rax", "rbx", "r12");
#elif defined __i386__
  asm volatile("mov $0x5e71,%%esi; mov $0x5e72,%%edi; mov 0,%%eax" ::: "eax", "esi", "edi");
#elif defined __aarch64__
  asm volatile("mov x19,#0x5e71; mov x28,#0x5e72; mov x0,#0; ldr x0,[x0]" ::: "x0", "x19", "x28");
#elif defined __arm__
  asm volatile("movw r4,#0x5e71; movw r8,#0x5e72; mov r0,#0; ldr r0,[r0]" ::: "r0", "r4", "r8");
#elif defined __riscv
  asm volatile("li s2,0x5e71; li s11,0x5e72; li a0,0; ld a0,0(a0)" ::: "a0", "s2", "s11");
#endif
}

// raw asks the kernel itself, with no restorer of the C library's.
static void raw(void *handler, unsigned long flags) {
  struct {
    void *handler;
    unsigned long flags;
#ifndef __riscv
    void *restorer;
#endif
    uint64_t mask;
  } sa = {.handler = handler, .flags = flags | SA_NODEFER};
  syscall(SYS_rt_sigaction, SIGSEGV, &sa, 0, 8);
}

static void libc(void *handler, int flags) {
  struct sigaction sa = {.sa_flags = flags | SA_NODEFER};
  sa.sa_handler = handler;
  sigaction(SIGSEGV, &sa, 0);
}

int main(void) {
  struct {
    const char *mode;
    void (*set)(void *, int);
    void *handler;
    int rt;
  } all[] = {
      {"libc rt", libc, on_rt, 1},
      {"libc old", libc, on_old, 0},
#ifndef __x86_64__ // which insists on a restorer
      {"kernel rt", (void *)raw, on_rt, 1},
      {"kernel old", (void *)raw, on_old, 0},
#endif
#ifdef __arm__
      {"libc rt, thumb", libc, thumb_rt, 1},
      {"libc old, thumb", libc, thumb_old, 0},
      {"kernel rt, thumb", (void *)raw, thumb_rt, 1},
      {"kernel old, thumb", (void *)raw, thumb_old, 0},
#endif
  };
  setvbuf(stdout, 0, _IONBF, 0);
  for (volatile unsigned i = 0; i < sizeof all / sizeof *all; i++) {
    mode = all[i].mode;
    all[i].set(all[i].handler, all[i].rt ? SA_SIGINFO : 0);
    if (!sigsetjmp(out, 1))
      fault();
  }
  return 0;
}
