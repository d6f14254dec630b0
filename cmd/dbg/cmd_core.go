package main

import (
	"github.com/spf13/cobra"
)

func coreCommand() *cobra.Command {
	var s shared
	c := &cobra.Command{
		Use:   "core [flags] CORE [EXE]",
		Short: "open a core file",
		Long: `Opens a core file of Linux or macOS (Mach-O), or a minidump (Windows, Breakpad, Crashpad). EXE is the program that wrote the core. Without it, dbg
finds the program by its build id or by the path in the core. With --sysroot DIR, dbg looks in DIR for the
programs and libraries of a macOS core: by their paths first, and then everywhere in DIR by their UUIDs. It
looks for those of a minidump by their names, in DIR and beside the dump, and compares their ids.

CORE may also be an ELF dump of a Linux kernel for x86-64 (vmcore). Its threads are the kernel's tasks. EXE is then
the kernel's vmlinux with debug information; without it, names come from the dump itself.`,
		Args: args(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			sess, err := s.open(s.config())
			if err != nil {
				return err
			}
			if err := sess.OpenCore(args[0], second(args)); err != nil {
				sess.Close()
				return err
			}
			return s.converse(cmd.Context(), sess)
		},
	}
	s.register(c.Flags())
	return c
}

// second returns the second argument, or "".
func second(args []string) string {
	if len(args) > 1 {
		return args[1]
	}
	return ""
}
