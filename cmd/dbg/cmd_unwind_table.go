package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"dbg/unwindtable"
)

func unwindTableCommand() *cobra.Command {
	var opts unwindtable.Options
	var pc, format string
	c := &cobra.Command{
		Use:   "table [flags] FILE",
		Short: "print a file's unwind tables",
		Long: `Prints a heading for each function in FILE that has unwind information, and a line
for each row of the table: the address, how to find the canonical frame address (CFA), a column for
each register that the function saves, and the return address.

u is undefined, s the same value, c-16 saved at CFA-16, v-16 the value CFA-16, r5 kept in register 5,
exp and vexp an expression for the address and the value; "-" means that the table has no rule.

FILE may be a static library (libx.a: each member has a heading) or a member of one ('libx.a(x.o)').`,
		Args: args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if pc != "" {
				v, err := strconv.ParseUint(pc, 0, 64)
				if err != nil {
					return usageError{fmt.Errorf("--pc %s: expected an address", pc)}
				}
				opts.PC = &v
			}
			opts.JSON = format == "json"
			if opts.Summary && opts.Raw {
				return usageError{fmt.Errorf("--raw does not support --summary")}
			}
			if opts.JSON && opts.Raw {
				return usageError{fmt.Errorf("--raw does not support --format json")}
			}
			return unwindtable.Print(cmd.Context(), os.Stdout, args[0], opts)
		},
	}
	f := c.Flags()
	f.StringVar(&pc, "pc", "", "print only the entries that cover `ADDR`, an address in the file")
	f.StringVar(&opts.Func, "func", "", "print only the entries of the function `NAME`")
	f.Var(choiceFlag{&opts.Source, unwindtable.Sources}, "source", "print only one table: "+strings.Join(unwindtable.Sources, ", "))
	format = "text"
	f.Var(choiceFlag{&format, []string{"text", "json"}}, "format", "form of the output: text or json")
	f.BoolVar(&opts.Summary, "summary", false, "print counts of each table: entries, rows, code, registers, exceptions")
	f.BoolVar(&opts.Raw, "raw", false, "print the undecoded entries, as readelf --debug-dump=frames, readelf -u, readelf --sframe and llvm-objdump --unwind-info do")
	return c
}
