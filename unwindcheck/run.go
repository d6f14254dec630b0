package unwindcheck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"dbg/frames"
	"dbg/target/ptrace"
)

// Options says what is judged.
type Options struct {
	Functions   string // judge only functions whose name matches this pattern of path.Match, in which * matches slashes too; "": all
	Module      string // judge only code of files whose name (without directories) matches this pattern of path.Match; "": of all
	Max         uint64 // stop after so many instructions; 0: never
	Source      Source // the one strategy or table that is judged; "": all of them together
	SignalEvery uint64 // send Signal each so many instructions; 0: never
	Signal      int

	// Prove asks the unwinder, too, which callers are exact, and counts those that are not. It is slow.
	Prove bool

	// Sample is called each SampleEvery instructions, where the truth is known; nil: never.
	Sample      func(*Sample)
	SampleEvery uint64

	// Plodding has the processor step each instruction, also where it is known where it leads.
	Plodding bool

	// Progress is called now and then with the instructions so far and how many of them were wrong.
	Progress func(instructions, wrong uint64)
}

// Source is a strategy or a table: a name of Sources, or "".
type Source string

// Sources are the names of what can be judged alone.
var Sources = []string{"cfi", "eh_frame", "debug_frame", "compact", "compact-body", "plt", "prologue", "fp", "scan", "sigreturn", "fallback"}

// ParseSource checks a name.
func ParseSource(name string) (Source, error) {
	for _, s := range Sources {
		if s == name {
			return Source(s), nil
		}
	}
	return "", fmt.Errorf("unknown source %q; one of %s is expected", name, strings.Join(Sources, ", "))
}

// strategies is what the unwinder may use. Tables go with the trampolines, since it is a table that
// tells one.
func (s Source) strategies() frames.StrategySet {
	switch s {
	case "":
		return frames.AllStrategies
	case "cfi", "eh_frame", "debug_frame":
		return frames.SetOf(frames.CFI, frames.Sigreturn)
	case "compact", "compact-body": // which refers to __eh_frame
		return frames.SetOf(frames.Compact, frames.CFI, frames.Sigreturn)
	case "fallback":
		return frames.AllStrategies &^ frames.SetOf(frames.CFI, frames.Compact)
	}
	one, _ := frames.StrategyByName(string(s))
	return frames.SetOf(one)
}

// restrictTo returns a function that makes the variant of a module that has only the tables to be
// judged.
func restrictTo(s Source) func(*frames.Module) *frames.Module {
	return func(m *frames.Module) *frames.Module {
		c := m.Contents()
		switch s {
		case "compact-body":
			c.Unrefined = true
		case "eh_frame":
			c.DebugFrame = frames.Section{}
		case "debug_frame":
			c.EHFrame, c.EHFrameHdr = frames.Section{}, frames.Section{}
		default:
			return m
		}
		return frames.NewModule(c)
	}
}

// Run steps a process that is stopped at its first instruction until it ends, opts.Max is
// reached or ctx is done; the last is an error, and what was found until then is returned
// with it. The process is the caller's to close.
//
// A process that is further on already is taken up as if nothing had been called yet: choose with opts.Module what is entered
// from then on.
func Run(ctx context.Context, p *ptrace.Process, opts Options) (*Report, error) {
	for _, pattern := range []string{opts.Functions, opts.Module} {
		if _, err := matchName(pattern, ""); err != nil {
			return nil, fmt.Errorf("the pattern %q is malformed", pattern)
		}
	}
	c, err := newChecker(p, opts)
	if err != nil {
		return nil, err
	}
	defer c.space.close()
	c.report.Program = p.Exe()
	err = p.StepAll(ctx, c)
	for id := range c.threads {
		c.end(id)
	}
	c.freeze()
	c.report.finish(c, time.Since(c.started))
	if err != nil && !errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%s can't be stepped: %w", c.report.Program, err)
	}
	return c.report, err
}

// Launch starts a program for Run: its standard files and its environment are ours.
func Launch(path string, args []string) (*ptrace.Process, error) {
	return ptrace.Launch(ptrace.LaunchOptions{Path: path, Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
}
