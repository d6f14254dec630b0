package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"dbg/internal/fault"
	"dbg/internal/plain"
	"dbg/repl"
	"dbg/target/kinds"
)

func main() {
	kinds.RunGuardian()
	os.Exit(run(os.Args[1:]))
}

// usageError is an error of usage, with exit status 2.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// signalError is the error when a signal has asked dbg to end.
type signalError struct{ sig os.Signal }

func (e signalError) Error() string { return "ended by signal: " + e.sig.String() }

// run runs the command line and returns the exit status. Our breakpoints must never stay in an
// attached program, so every signal that would kill dbg ends it in an orderly way.
func run(args []string) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	go func() {
		cancel(signalError{<-ends})
	}()
	// If a pipe's reader is gone, writing returns an error. It must not kill dbg.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	root := rootCommand()
	root.SetArgs(args)
	var err error
	if e := fault.Catch(func() { err = root.ExecuteContext(ctx) }); e != nil {
		err = e
	}
	if cause := context.Cause(ctx); err != nil && errors.Is(err, context.Canceled) && cause != nil {
		err = cause
	}
	return status(err)
}

// interruptible makes SIGINT end a command in an orderly way. The terminal front end does not use
// it: there SIGINT stops the program.
func interruptible(run func(cmd *cobra.Command, args []string) error) func(cmd *cobra.Command, args []string) error {
	return func(cmd *cobra.Command, args []string) error {
		ctx, cancel := context.WithCancelCause(cmd.Context())
		defer cancel(nil)
		interrupts := make(chan os.Signal, 1)
		signal.Notify(interrupts, os.Interrupt)
		defer signal.Stop(interrupts)
		go func() {
			select {
			case sig := <-interrupts:
				cancel(signalError{sig})
			case <-ctx.Done():
			}
		}()
		cmd.SetContext(ctx)
		err := run(cmd, args)
		if cause := context.Cause(ctx); err != nil && errors.Is(err, context.Canceled) && cause != nil {
			return cause
		}
		return err
	}
}

// status prints the error and returns the exit status.
func status(err error) int {
	var exit *repl.ExitError
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.Code
	case errors.As(err, &usage):
		fmt.Fprintf(os.Stderr, "dbg: %s\n", oneLine(err))
		return 2
	}
	fmt.Fprintf(os.Stderr, "dbg: %s\n", oneLine(err))
	return 1
}

func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(plain.String(err.Error()), func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "dbg",
		Short:         "a native debugger: where is this program, and how did it get there?",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("unknown command %q; try: dbg help", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			cmd.SetOut(os.Stderr)
			cmd.Help()
			return usageError{errors.New("expected a command")}
		},
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; try: %s --help", err, cmd.CommandPath())}
	})
	root.AddCommand(execCommand(), attachCommand(), coreCommand(), btCommand(), lookupCommand(), indexCommand(), dapCommand(), demoCommand(), unwindCommand(), versionCommand())
	return root
}

// args checks the number of arguments.
func args(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usageError{fmt.Errorf("an argument is missing; usage: %s", cmd.UseLine())}
		case most >= 0 && len(args) > most:
			return usageError{fmt.Errorf("unexpected argument %q; usage: %s", args[most], cmd.UseLine())}
		}
		return nil
	}
}
