// Package elfcore reads ELF core files: the memory and registers that a process
// had when it died. It implements target.Target.
//
// It gives what is there and nothing else. The kernel writes only part of the
// memory into a core: pages of files that were not changed are left out
// (core(5), "Controlling which mappings are written"). What is missing is read from the
// files themselves, if these still are what the process had mapped, which their
// build ids tell. All else is an error that says so; no byte and no register is ever taken for
// zero because it is not known. That includes what is beyond p_filesz in a
// segment: in a program that is zero, in a core it is unknown.
//
// The formats are those of the Linux kernel, fs/binfmt_elf.c, and of gdb's
// generate-core-file, which agree: notes NT_PRSTATUS (one for each thread, the one that
// died first), NT_PRPSINFO, NT_SIGINFO, NT_AUXV, NT_FILE, NT_FPREGSET and
// NT_X86_XSTATE. Registers are understood for amd64, 386, arm64, arm and riscv64.
//
// The file is mapped, not read, and a core may be truncated or damaged anywhere:
// every offset and length is checked. What is lost is said by Warnings.
package elfcore
