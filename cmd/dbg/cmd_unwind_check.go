package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"dbg/internal/plain"
	"dbg/repl"
	"dbg/unwindcheck"
)

func unwindCheckCommand() *cobra.Command {
	var opts unwindcheck.Options
	var source, every, format, output string
	c := &cobra.Command{
		Use:   "check [flags] PROG [ARGS...]",
		Short: "check a program's unwind tables against its execution",
		Long: `Runs all threads of PROG one instruction at a time, from the first instruction on.
At each instruction, it compares the caller that the unwinder finds (its stack pointer, the return
address, the callee-saved registers) with the caller that follows from the calls and returns so far.
It prints each wrong range of instructions with the table entry that covers it, and then
the counts.

The exit status is 1 if anything is wrong. Flags of dbg come before PROG; everything after PROG
belongs to PROG. One instruction takes about 10 microseconds. Ctrl-C ends the run; the report then covers
the instructions that were executed.`,
		Args: args(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if source != "" {
				if opts.Source, err = unwindcheck.ParseSource(source); err != nil {
					return usageError{err}
				}
			}
			if opts.SignalEvery, opts.Signal, err = parseEvery(every); err != nil {
				return usageError{err}
			}
			write := unwindcheck.WriteText
			if format == "json" {
				write = unwindcheck.WriteJSON
			}
			return check(cmd.Context(), args, opts, output, write)
		},
	}
	f := c.Flags()
	f.StringVar(&opts.Functions, "functions", "", "check only functions whose name matches `GLOB`")
	f.StringVar(&opts.Module, "module", "", "check only code in files whose name matches `GLOB`")
	f.Uint64Var(&opts.Max, "max", 0, "stop after `N` instructions and kill the program; 0 means never")
	f.StringVar(&source, "source", "", "check only `NAME`: "+strings.Join(unwindcheck.Sources, ", "))
	f.StringVar(&every, "signal-every", "", "send a signal every `N[:SIG]` instructions (default SIGUSR1)")
	f.BoolVar(&opts.Prove, "prove", false, "also compute which callers have trust exact, and count the wrong ones among them")
	format = "text"
	f.Var(choiceFlag{&format, []string{"text", "json"}}, "format", "form of the report: text or json")
	f.StringVar(&output, "output", "", "write the report to `FILE`, separate from the program's output")
	f.SetInterspersed(false)
	return c
}

// parseEvery reads N[:SIG].
func parseEvery(s string) (n uint64, sig int, err error) {
	if s == "" {
		return 0, 0, nil
	}
	number, name, named := strings.Cut(s, ":")
	n, err = strconv.ParseUint(number, 10, 64)
	if err != nil || n == 0 {
		return 0, 0, fmt.Errorf("--signal-every %s: expected N or N:SIGNAL", s)
	}
	if !named {
		return n, int(unix.SIGUSR1), nil
	}
	if sig, err = strconv.Atoi(name); err != nil {
		sig = int(unix.SignalNum("SIG" + strings.TrimPrefix(strings.ToUpper(name), "SIG")))
	}
	if sig < 1 || sig > 64 {
		return 0, 0, fmt.Errorf("--signal-every %s: there is no signal %q", s, name)
	}
	return n, sig, nil
}

// check runs the program and prints the report.
func check(ctx context.Context, args []string, opts unwindcheck.Options, output string, write func(io.Writer, *unwindcheck.Report) error) error {
	to := os.Stdout
	if output != "" {
		f, err := os.Create(output)
		if err != nil {
			return err
		}
		defer f.Close()
		to = f
	}
	clear := func() {}
	if isTerminal(os.Stderr) {
		opts.Progress, clear = progress(os.Stderr)
	}
	p, err := unwindcheck.Launch(args[0], args[1:])
	if err != nil {
		return err
	}
	defer p.Close()
	ctx, restore := signal.NotifyContext(ctx, os.Interrupt)
	defer restore()
	r, err := unwindcheck.Run(ctx, p, opts)
	clear()
	if err != nil && !errors.Is(err, context.Canceled) || r == nil {
		return err
	}
	out := bufio.NewWriter(to)
	werr := errors.Join(write(plain.Writer(out), r), out.Flush())
	switch {
	case err != nil:
		return errors.New("interrupted: the report covers only the instructions that were executed")
	case werr != nil:
		return werr
	case !r.Clean():
		return &repl.ExitError{Code: 1}
	}
	return nil
}

// progress prints a line that is overwritten at most four times a second.
func progress(w io.Writer) (show func(instructions, wrong uint64), clear func()) {
	begun := time.Now()
	last := begun
	show = func(instructions, wrong uint64) {
		now := time.Now()
		if now.Sub(last) < 250*time.Millisecond {
			return
		}
		last = now
		fmt.Fprintf(w, "\r%d instructions, %d a second, %d wrong\x1b[K", instructions,
			int64(float64(instructions)/now.Sub(begun).Seconds()), wrong)
	}
	return show, func() {
		if last != begun {
			fmt.Fprint(w, "\r\x1b[K")
		}
	}
}
