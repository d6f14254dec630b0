package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"dbg/unwindtable"
)

func unwindConvertCommand() *cobra.Command {
	var opts unwindtable.ConvertOptions
	c := &cobra.Command{
		Use:   "convert [flags] FILE",
		Short: "write a file's call frame information in another format",
		Long: `Converts the call frame information of FILE (.eh_frame or .debug_frame).

sframe writes an ELF file that has only the section .sframe, and reports how many rows were converted,
and how many were lost for each reason. "dbg unwind table --source sframe" and readelf --sframe read it.
json prints the rows, one object for each function.`,
		Args: args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case opts.To == "":
				return usageError{fmt.Errorf("--to is missing: expected one of %s", strings.Join(unwindtable.Formats, ", "))}
			case opts.To == "sframe" && opts.Output == "":
				return usageError{fmt.Errorf("--to sframe needs --output")}
			case opts.To == "json" && opts.Output != "":
				return usageError{fmt.Errorf("--to json writes to standard output")}
			}
			return unwindtable.Convert(cmd.Context(), os.Stdout, args[0], opts)
		},
	}
	f := c.Flags()
	f.Var(choiceFlag{&opts.To, unwindtable.Formats}, "to", "format to write: "+strings.Join(unwindtable.Formats, ", "))
	sources := []string{"eh_frame", "debug_frame"}
	f.Var(choiceFlag{&opts.Source, sources}, "source", "convert this table: eh_frame or debug_frame")
	f.StringVarP(&opts.Output, "output", "o", "", "write the ELF file `FILE`")
	f.IntVar(&opts.Version, "sframe-version", 3, "version of SFrame to write: 2 or 3")
	return c
}
