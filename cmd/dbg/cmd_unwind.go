package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func unwindCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "unwind",
		Short: "show unwind tables, and check them against a program's execution",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("unknown command %q; try: dbg unwind --help", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			cmd.SetOut(os.Stderr)
			cmd.Help()
			return usageError{errors.New("expected a command")}
		},
	}
	c.AddCommand(unwindTableCommand(), unwindCheckCommand(), unwindCompareCommand(), unwindConvertCommand())
	return c
}
