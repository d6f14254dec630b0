package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"dbg/repl"
	"dbg/session"
)

func btCommand() *cobra.Command {
	var s shared
	var most int
	c := &cobra.Command{
		Use:   "bt [flags] PID|CORE [EXE]",
		Short: "print the backtraces of all threads and exit",
		Long: `Prints the backtraces of all threads of a process or of a core file. A process is
stopped only while its stacks are read. It continues before anything is printed. With -x or --ex,
these commands run after the backtraces.`,
		Args: args(1, 2),
		RunE: interruptible(func(cmd *cobra.Command, args []string) error {
			cfg := s.config()
			if cfg.Debuginfod.Patience = batchPatience; s.commands != nil {
				cfg.Debuginfod.Patience = patience // the process stays stopped while they run
			}
			sess, err := s.open(cfg)
			if err != nil {
				return err
			}
			defer sess.Close()
			opts := repl.BacktraceOptions{MaxFrames: most, Color: s.useColor()}
			live, err := openForBacktrace(sess, args)
			if err != nil {
				return err
			}
			if !live {
				opts.Path = args[0]
			}
			for _, w := range sess.Warnings() {
				fmt.Fprintf(os.Stderr, "dbg: warning: %s\n", oneLine(fmt.Errorf("%s", w)))
			}
			if err := s.backtraces(cmd.Context(), sess, live && len(s.commands) == 0, opts); err != nil {
				return err
			}
			if len(s.commands) == 0 {
				return nil
			}
			s.batch = true
			return s.converse(cmd.Context(), sess)
		}),
	}
	s.register(c.Flags())
	c.Flags().IntVar(&most, "max-frames", 0, "print at most `N` frames of each thread; 0 means all")
	return c
}

// openForBacktrace attaches to a process or opens a core. A number is a process id, unless a file
// has that name and no such process exists.
func openForBacktrace(sess *session.Session, args []string) (live bool, err error) {
	pid, nerr := strconv.Atoi(args[0])
	_, serr := os.Stat(args[0])
	if nerr == nil && (serr != nil || exists(pid)) {
		if pid < 1 {
			return false, fmt.Errorf("%s is neither a process id nor a core file", args[0])
		}
		if len(args) > 1 {
			return false, usageError{fmt.Errorf("EXE is only for a core file; dbg knows the program of process %d", pid)}
		}
		return true, sess.AttachBriefly(pid)
	}
	if os.IsNotExist(serr) {
		return false, fmt.Errorf("%s is neither a process id nor a core file: there is no such file", args[0])
	}
	return false, sess.OpenCore(args[0], second(args))
}

func exists(pid int) bool {
	_, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	return pid > 0 && err == nil
}

// maxHeld limits the text, in bytes, of a live process's backtraces that is held back until the
// process continues. When it is reached, the held text is printed.
const maxHeld = 8 << 20

// heldWriter holds back what is written, up to maxHeld.
type heldWriter struct {
	held bytes.Buffer
	to   io.Writer
}

func (h *heldWriter) Write(p []byte) (int, error) {
	if h.held.Len()+len(p) > maxHeld {
		if err := h.release(); err != nil {
			return 0, err
		}
	}
	return h.held.Write(p)
}

func (h *heldWriter) release() error {
	_, err := h.held.WriteTo(h.to)
	return err
}

// backtraces prints the backtraces of all threads. With detach, the process continues before they
// are printed.
func (s *shared) backtraces(ctx context.Context, sess *session.Session, detach bool, opts repl.BacktraceOptions) error {
	// A signal that ends dbg closes the session, which ends the walk.
	defer context.AfterFunc(ctx, func() { sess.Close() })()
	write := repl.WriteText
	if s.format == "json" {
		write = repl.WriteJSON
	}
	if !detach {
		out := bufio.NewWriter(os.Stdout)
		err := write(out, sess, opts)
		if ferr := out.Flush(); err == nil {
			err = ferr
		}
		return interruption(ctx, err)
	}
	out := &heldWriter{to: os.Stdout}
	err := write(out, sess, opts)
	if derr := sess.Detach(); err == nil && derr != nil {
		err = derr
	}
	if werr := out.release(); err == nil {
		err = werr
	}
	return interruption(ctx, err)
}

// interruption returns the error of ctx if it is done, and err otherwise.
func interruption(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
