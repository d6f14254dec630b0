// Package vmcore reads ELF dumps of a Linux kernel's memory for x86-64: those of kdump's /proc/vmcore, of
// makedumpfile -E, and of QEMU's dump-guest-memory. It implements target.Target: the threads are the kernel's tasks.
//
// Bring the path of the dump, and the kernel's vmlinux if it has debug information. All that is needed is in the dump
// itself: the note VMCOREINFO (the release, where KASLR has moved the kernel, where its symbols are), the kernel's page
// tables, its symbols (kallsyms), the layouts of its structures (BTF), and the unwind tables (ORC) of the kernel and
// of the modules that it has loaded. Before Linux 6.0 VMCOREINFO does not tell where the symbols are, and a vmlinux
// with a symbol table is needed.
//
// A task that runs has the registers of its processor's NT_PRSTATUS. A task that waits has those that
// __switch_to_asm has saved on its stack (struct inactive_task_frame). A thread's id is its pid; the idle task of
// processor N, whose pid is 0, is -(N+1).
//
// # What it does not do
//
// Memory of user programs is not read: it is not in the kernel's page tables. makedumpfile's compressed format
// (kdump) is not read: [Open] says so.
//
// The dump is mapped, not read. It may be truncated or damaged anywhere: lists are bounded and end at a
// cycle, and Warnings reports what is lost.
package vmcore
