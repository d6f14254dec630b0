package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
)

func attachCommand() *cobra.Command {
	var s shared
	c := &cobra.Command{
		Use:   "attach [flags] PID",
		Short: "debug a running process; it is left running and unharmed on detach",
		Args:  args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			pid, err := strconv.Atoi(args[0])
			if err != nil || pid < 1 {
				return usageError{fmt.Errorf("expected a process id, not %q", args[0])}
			}
			sess, err := s.open(s.config())
			if err != nil {
				return err
			}
			if err := sess.Attach(pid); err != nil {
				sess.Close()
				return err
			}
			return s.converse(cmd.Context(), sess)
		},
	}
	s.register(c.Flags())
	return c
}
