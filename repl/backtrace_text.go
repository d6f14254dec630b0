package repl

import (
	"fmt"
	"io"
	"os"

	"dbg/arch"
	"dbg/eval"
	"dbg/frames"
	"dbg/internal/plain"
	"dbg/session"
)

// argumentFormat is the format of variables that are printed with their names: a pointer is printed
// without its type.
func argumentFormat() eval.Options {
	return eval.Options{AddressOfStrings: true, Inner: true}
}

// argumentFormat is argumentFormat with the user's settings.
func (sh *shell) argumentFormat() eval.Options {
	opt := sh.settings.print.Options
	opt.Inner = true
	return opt
}

// textBacktrace prints one thread's backtrace.
type textBacktrace struct {
	w      io.Writer
	names  *names
	start  int  // level
	limit  int  // 0: all
	full   bool // with locals
	format eval.Options
	cancel func() bool
}

// write prints the frames. If the walk ended abnormally, it also prints why.
func (b *textBacktrace) write(s *session.Session, t session.ThreadInfo) error {
	printed, more, cancelled := 0, false, false
	end, err := s.EachFrameView(t.ID, b.start, session.ViewOptions{Locals: b.full, Format: b.format}, func(v *session.FrameView) bool {
		if b.limit > 0 && printed == b.limit {
			more = true
			return false
		}
		if b.cancel != nil && b.cancel() {
			cancelled = true
			return false
		}
		printed++
		_, err := fmt.Fprintln(b.w, b.names.level(v))
		if b.full {
			writeLocals(b.w, v)
		}
		return err == nil
	})
	switch {
	case err != nil:
		return err
	case cancelled:
		return errUserQuit
	case more:
		fmt.Fprintln(b.w, "(More stack frames follow...)")
	default:
		writeEnd(b.w, end)
	}
	return nil
}

// writeEnd prints why a walk ended, if it ended abnormally.
func writeEnd(w io.Writer, end *frames.End) {
	if end != nil && !end.Outermost && end.Reason != frames.NotEnded {
		fmt.Fprintf(w, "Backtrace stopped: %s\n", end.Message())
	}
}

// writeLocals prints a frame's variables, one a line.
func writeLocals(w io.Writer, v *session.FrameView) {
	switch {
	case v.Function == nil || v.Function.FromSymbolTable:
		fmt.Fprintln(w, "No symbol table info available.")
	case len(v.Locals) == 0:
		fmt.Fprintln(w, "No locals.")
	}
	for _, x := range v.Locals {
		fmt.Fprintf(w, "        %s = %s\n", x.Name, x.Value)
	}
}

// last prints the n outermost frames. It counts all frames first.
func (b *textBacktrace) last(s *session.Session, t session.ThreadInfo, n int) error {
	at := 0
	cancelled := false
	end, err := s.EachFrame(t.ID, 0, func(f *session.Frame) bool {
		at++
		cancelled = b.cancel != nil && b.cancel()
		return !cancelled
	})
	if err != nil {
		return err
	}
	if cancelled {
		return errUserQuit
	}
	_, err = s.EachFrameView(t.ID, max(0, at-n), session.ViewOptions{Locals: b.full, Format: b.format}, func(v *session.FrameView) bool {
		fmt.Fprintln(b.w, b.names.level(v))
		if b.full {
			writeLocals(b.w, v)
		}
		return true
	})
	writeEnd(b.w, end)
	return err
}

// threadName returns gdb's name of a thread: the address of its pthread, which is fs_base on
// x86-64, and its kernel id.
func threadName(s *session.Session, t session.ThreadInfo) string {
	if regs, err := s.Registers(t.ID, 0); err == nil {
		for _, r := range regs {
			if r.Name == arch.AMD64.RegName(arch.FSBase) && r.Known && r.Value != 0 {
				return fmt.Sprintf("Thread 0x%x (LWP %d)", r.Value, t.ID)
			}
		}
	}
	return fmt.Sprintf("LWP %d", t.ID)
}

// threadHeader returns the line before a thread's backtrace.
func threadHeader(s *session.Session, t session.ThreadInfo) string {
	name := ""
	if t.Name != "" {
		name = fmt.Sprintf(" %q", t.Name)
	}
	return fmt.Sprintf("Thread %d (%s%s):", t.Number, threadName(s, t), name)
}

// BacktraceOptions specifies what WriteText and WriteJSON print.
type BacktraceOptions struct {
	MaxFrames int // the maximum for each thread; 0 means all
	Color     bool
	// Path is the path of the core file, for JSON.
	Path string
}

// WriteText prints the backtraces of all threads.
func WriteText(w io.Writer, s *session.Session, opts BacktraceOptions) error {
	w = plain.Writer(w)
	threads, err := s.Threads()
	if err != nil {
		return err
	}
	n := &names{color: opts.Color}
	n.cwd, _ = os.Getwd()
	if t, ok := s.Target(); ok {
		n.exe = t.Exe
	}
	for i, t := range threads {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if _, err := fmt.Fprintln(w, threadHeader(s, t)); err != nil {
			return err
		}
		b := textBacktrace{w: w, names: n, limit: opts.MaxFrames, format: argumentFormat()}
		if err := b.write(s, t); err != nil {
			// A thread that can't be read must not hide the others.
			fmt.Fprintf(w, "Backtrace stopped: %v\n", err)
		}
	}
	return nil
}
