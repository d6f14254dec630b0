// Package elfcore reads ELF core files, which hold the memory and registers of a process when it
// died. It implements target.Target.
//
// It returns only data that is known. The kernel writes only part of the memory into a core: it
// leaves out unchanged pages of files (core(5), "Controlling which mappings are written").
// Missing memory is read from the files themselves if their build ids show that they are still
// the files that the process had mapped. Any other read is an error that says so. No unknown byte
// or register is ever reported as zero. That includes bytes beyond p_filesz in a segment: in a
// program they are zero, in a core they are unknown.
//
// The formats are those of the Linux kernel, fs/binfmt_elf.c, and of gdb's generate-core-file,
// which agree: notes NT_PRSTATUS (one for each thread; the thread that died comes first),
// NT_PRPSINFO, NT_SIGINFO, NT_AUXV, NT_FILE, NT_FPREGSET and NT_X86_XSTATE. Registers are decoded
// for amd64, 386, arm64, arm and riscv64.
//
// The file is mapped, not read. A core may be truncated or damaged anywhere: every offset and
// length is checked. Warnings reports the parts that are lost.
package elfcore
