package main

import (
	"github.com/spf13/cobra"

	"dbg/session"
)

func coreCommand() *cobra.Command {
	var s shared
	c := &cobra.Command{
		Use:   "core [flags] CORE [EXE]",
		Short: "open a core file",
		Long: `Opens a core file of Linux or of macOS (Mach-O). EXE, the program that it is of, is found by the build id or by the
path that the core has, when left out. With --sysroot DIR, a macOS core's programs and libraries are looked for in DIR
by their paths, and then by their UUIDs in all of it; what is not found is read out of the core as far as it is there.`,
		Args: args(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			sess := session.New(s.config())
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

// second is the second argument, or "".
func second(args []string) string {
	if len(args) > 1 {
		return args[1]
	}
	return ""
}
