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
	"dbg/unwindtable/compare"
)

// Options specifies what is judged.
type Options struct {
	Functions   string // pattern of path.Match, where * also matches slashes; "" means all
	Module      string // pattern of path.Match for base names of files; "" means all
	Max         uint64 // stop after so many instructions; 0 means never
	Source      Source // judge only this strategy or table; "" means all together
	SignalEvery uint64 // send Signal every so many instructions; 0 means never
	Signal      int

	// Prove makes the unwinder also compute which callers have trust exact, and counts the wrong
	// ones among these. It is slow.
	Prove bool

	// Sample is called every SampleEvery instructions at places where the truth is known; nil means
	// never.
	Sample      func(*Sample)
	SampleEvery uint64

	// Counts is called at the end, for each address that was judged, in no order, with the address in
	// its file. A wrong row counts as wrong even if the unwinder rejected it. May be nil.
	Counts func(addr uint64, n compare.Counts)

	// Plodding makes the processor step each instruction, even if the next address is known.
	Plodding bool

	// Progress is called from time to time with the number of instructions so far, and how many of
	// them were wrong.
	Progress func(instructions, wrong uint64)
}

// Source is the name of a strategy or a table from Sources, or "".
type Source string

// Sources lists the strategies and tables that can be judged alone.
var Sources = []string{"cfi", "eh_frame", "debug_frame", "compact", "compact-body", "pdata", "orc", "sframe", "gopclntab", "plt", "prologue", "fp", "scan", "sigreturn", "fallback"}

// ParseSource checks a name.
func ParseSource(name string) (Source, error) {
	for _, s := range Sources {
		if s == name {
			return Source(s), nil
		}
	}
	return "", fmt.Errorf("unknown source %q: expected one of %s", name, strings.Join(Sources, ", "))
}

// strategies returns the strategies that the unwinder may use. Tables include sigreturn, because a
// table identifies a trampoline.
func (s Source) strategies() frames.StrategySet {
	switch s {
	case "":
		return frames.AllStrategies
	case "cfi", "eh_frame", "debug_frame", "gopclntab":
		return frames.SetOf(frames.CFI, frames.Sigreturn)
	case "compact", "compact-body": // which refers to __eh_frame
		return frames.SetOf(frames.Compact, frames.CFI, frames.Sigreturn)
	case "pdata", "orc", "sframe":
		one, _ := frames.StrategyByName(string(s))
		return frames.SetOf(one, frames.Sigreturn)
	case "fallback":
		return frames.AllStrategies &^ (frames.Tables &^ frames.SetOf(frames.JIT))
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
		case "gopclntab":
			c.DebugFrame, c.EHFrame, c.EHFrameHdr = frames.Section{}, frames.Section{}, frames.Section{}
		case "debug_frame":
			c.EHFrame, c.EHFrameHdr = frames.Section{}, frames.Section{}
		default:
			return m
		}
		return frames.NewModule(c)
	}
}

// Run steps a process that is stopped at its first instruction until it ends, opts.Max is reached
// or ctx is done. If ctx is done, it returns an error together with the results so far. The caller
// closes the process.
//
// If the process has already run, Run behaves as if nothing had been called before: select with
// opts.Module the code that is entered from then on.
func Run(ctx context.Context, p *ptrace.Process, opts Options) (*Report, error) {
	for _, pattern := range []string{opts.Functions, opts.Module} {
		if _, err := matchName(pattern, ""); err != nil {
			return nil, fmt.Errorf("malformed pattern %q", pattern)
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
	c.counts()
	c.freeze()
	c.report.finish(c, time.Since(c.started))
	if err != nil && !errors.Is(err, context.Canceled) {
		err = fmt.Errorf("can't step %s: %w", c.report.Program, err)
	}
	return c.report, err
}

// Launch starts a program for Run, with our standard files and environment.
func Launch(path string, args []string) (*ptrace.Process, error) {
	return ptrace.Launch(ptrace.LaunchOptions{Path: path, Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
}
