package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"dbg/image"
	"dbg/internal/plain"
	"dbg/repl"
	"dbg/symbols"
	"dbg/unwindcheck"
	"dbg/unwindtable/compare"
)

func unwindCompareCommand() *cobra.Command {
	var x comparison
	c := &cobra.Command{
		Use:   "compare [flags] FILE [PROG [ARGS...]]",
		Short: "print where two unwind tables of a file disagree",
		Long: `Holds the unwind tables of FILE against each other: for each address that two of them
cover, the canonical frame address (CFA), the return address and the registers that both describe.

"conflict" means that at most one table is right, "broken" that one has no row that can be read. With
--all, "either" is printed too: the rows differ, but both may be right, since they use different
registers, or one has a register saved that the other has unchanged.

With PROG, which is FILE or a program that loads it, PROG is run once for each table, instruction by
instruction, and each difference says which table was right. PROG runs only if something differs.

The exit status is 1 if there is a conflict or a broken row.`,
		Args: args(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return x.run(cmd.Context(), args[0], args[1:])
		},
	}
	f := c.Flags()
	f.StringSliceVar(&x.tables, "tables", nil, "compare only the tables `A,B`")
	f.BoolVar(&x.all, "all", false, "also print differences where both tables may be right")
	f.Uint64Var(&x.max, "max", 0, "stop PROG after `N` instructions; 0 means never")
	x.format = "text"
	f.Var(choiceFlag{&x.format, []string{"text", "json"}}, "format", "form of the output: text or json")
	f.SetInterspersed(false)
	return c
}

// comparison is one run of the command.
type comparison struct {
	tables []string
	all    bool
	max    uint64
	format string
}

func (x *comparison) run(ctx context.Context, path string, argv []string) error {
	if n := len(x.tables); n != 0 && n != 2 {
		return usageError{fmt.Errorf("--tables: expected two tables, as in eh_frame,debug_frame")}
	}
	img, err := image.Open(path)
	if err != nil {
		return err
	}
	defer img.Close()
	f, err := compare.Open(img)
	if err != nil {
		return err
	}
	defer f.Close()
	pairs, err := x.pairs(f, path)
	if err != nil {
		return err
	}
	syms := symbols.Load(img, symbols.Options{})
	defer syms.Close()
	out := bufio.NewWriter(os.Stdout)
	p := &compare.Printer{W: plain.Writer(out), JSON: x.format == "json", All: x.all, Name: func(addr uint64) string {
		if name, _, ok := syms.SymbolAt(image.Addr(addr)); ok {
			return name
		}
		return "??"
	}}
	conflict := false
	for _, pair := range pairs {
		sum, err := x.one(ctx, f, path, pair, argv, p)
		if err = errors.Join(err, out.Flush()); err != nil {
			return err
		}
		conflict = conflict || sum.Differences+sum.Unreadable > 0
	}
	if conflict {
		return &repl.ExitError{Code: 1}
	}
	return nil
}

// pairs are the tables to compare: those asked for, or each two of the file.
func (x *comparison) pairs(f *compare.File, path string) (list [][2]string, err error) {
	if len(x.tables) == 2 {
		return [][2]string{{x.tables[0], x.tables[1]}}, nil
	}
	names := f.Tables()
	for i, a := range names {
		for _, b := range names[i+1:] {
			list = append(list, [2]string{a, b})
		}
	}
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("%s: it has no unwind tables", path)
	case len(names) == 1:
		return nil, fmt.Errorf("%s: its only unwind table is %s", path, names[0])
	}
	return list, nil
}

// maxJudged limits the differences that a run judges.
const maxJudged = 1 << 20

// one compares two tables. Differences are printed as they are found, or after the program was run.
func (x *comparison) one(ctx context.Context, f *compare.File, path string, pair [2]string, argv []string, p *compare.Printer) (*compare.Summary, error) {
	var list []compare.Difference
	names := &compare.Summary{A: pair[0], B: pair[1]}
	sum, err := compare.Run(ctx, f, pair[0], pair[1], func(d *compare.Difference) error {
		if len(argv) == 0 {
			return p.Difference(names, d, nil)
		}
		if p.Shows(d.Class) && len(list) < maxJudged {
			list = append(list, *d)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(list) > 0 {
		run, err := unwindcheck.WhoIsRight(ctx, argv, path, sum.A, sum.B, list, unwindcheck.Options{Max: x.max})
		if err != nil {
			return nil, err
		}
		for i := range list {
			if err := p.Difference(sum, &list[i], &run[i]); err != nil {
				return nil, err
			}
		}
	}
	return sum, p.Summary(sum)
}
