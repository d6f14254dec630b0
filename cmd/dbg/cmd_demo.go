package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"dbg/repl"
	"dbg/session"
	"dbg/testdata/demo"
)

func demoCommand() *cobra.Command {
	var s shared
	c := &cobra.Command{
		Use:   "demo",
		Short: "a guided first session on a small program built into dbg: nothing else is needed",
		Args:  args(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			terminal := isTerminal(os.Stdin) && isTerminal(os.Stdout)
			return runDemo(cmd.Context(), terminal, s.useColor())
		},
	}
	s.color = "auto"
	c.Flags().Var(choiceFlag{&s.color, []string{"auto", "always", "never"}}, "color", "colours: auto, always or never")
	return c
}

// tour is the guided session.
var tour = []repl.Command{
	{Say: "This program is a small railway: trains take cargo at stations. It has a bug.\n" +
		"A breakpoint stops it where a train takes cargo.", Text: "break take", Show: true},
	{Text: "run", Show: true},
	{Say: "How did it get here? The backtrace starts with the innermost call.", Text: "bt", Show: true},
	{Say: "Frame 1 is the caller. It has its own variables.", Text: "frame 1", Show: true},
	{Text: "info args", Show: true},
	{Text: "info locals", Show: true},
	{Say: "Any C expression can be printed.", Text: "print *here", Show: true},
	{Text: "print here->next->name", Show: true},
	{Say: "Now step: \"next\" runs to the next line, \"finish\" runs until the function returns.", Text: "next", Show: true},
	{Text: "print room", Show: true},
	{Text: "finish", Show: true},
	{Say: "Without the breakpoint, the program continues until its bug.", Text: "delete", Show: true},
	{Text: "continue", Show: true},
	{Say: "It read memory that is not mapped. The backtrace shows who called it.", Text: "bt", Show: true},
	{Text: "frame 2", Show: true},
	{Say: "The station Ghost points to a next station at an invalid address.", Text: "print *here", Show: true},
}

const suggestions = `That was the tour. The program is still stopped at its crash. Try:
  up                 and "info locals": the variables of main
  disassemble take   the machine code, with => at the instruction that failed
  run                from the beginning, after "break travel if here == &ghost"
"help" lists all commands, "quit" leaves.`

// runDemo writes the demo program to a temporary directory, and runs the tour.
func runDemo(ctx context.Context, terminal, color bool) error {
	dir, err := os.MkdirTemp("", "dbg-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// The debug information holds the source's path at build time. The sysroot makes it valid here.
	src := filepath.Join(dir, demo.Dir)
	if err := os.Mkdir(src, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(src, "demo.c"), demo.Source, 0o600); err != nil {
		return err
	}
	prog := filepath.Join(dir, "demo")
	if err := os.WriteFile(prog, demo.Program, 0o755); err != nil {
		return err
	}
	sess := session.New(session.Config{Sysroot: dir})
	if err := sess.Load(session.Program{Path: prog, Terminal: isTerminal(os.Stdin)}); err != nil {
		sess.Close()
		return fmt.Errorf("can't load the demo program: %w", err)
	}
	opts := repl.Options{
		Commands: tour, Batch: !terminal, Terminal: terminal, Color: color,
		SourceRoots: []string{demo.Dir}, Before: "\n" + suggestions,
	}
	if terminal {
		opts.History = historyFile()
	}
	return converse(ctx, sess, opts)
}
