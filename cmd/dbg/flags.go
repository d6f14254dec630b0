package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"dbg/internal/plain"
	"dbg/repl"
	"dbg/session"
)

// shared holds the flags of exec, attach, core and bt.
type shared struct {
	batch     bool
	commands  []repl.Command // -x and --ex, in the order of the command line
	format    string
	color     string
	sysroot   string
	debugDirs []string
	natvis    []string
	sources   []string // strategies of the unwinder; none means all
	log       string
}

// commandFlag appends -x and --ex to one list, to keep their order.
type commandFlag struct {
	list *[]repl.Command
	file bool
}

func (f commandFlag) Set(v string) error {
	c := repl.Command{Text: v}
	if f.file {
		c = repl.Command{File: v}
	}
	*f.list = append(*f.list, c)
	return nil
}
func (f commandFlag) Type() string {
	if f.file {
		return "FILE"
	}
	return "CMD"
}
func (f commandFlag) String() string { return "" }

// choiceFlag is a flag with a few possible values.
type choiceFlag struct {
	value   *string
	choices []string
}

func (f choiceFlag) Set(v string) error {
	for _, c := range f.choices {
		if v == c {
			*f.value = v
			return nil
		}
	}
	return fmt.Errorf("expected one of %v", f.choices)
}
func (f choiceFlag) Type() string   { return "WORD" }
func (f choiceFlag) String() string { return *f.value }

func (s *shared) register(f *pflag.FlagSet) {
	s.format, s.color, s.log = "text", "auto", "warn"
	f.BoolVar(&s.batch, "batch", false, "exit after the commands; no prompt, no colours")
	f.VarP(commandFlag{&s.commands, true}, "command", "x", "run commands from `FILE`")
	f.Var(commandFlag{&s.commands, false}, "ex", "run one command; repeatable")
	f.StringSliceVar(&s.sources, "source", nil, "find frames only by the strategies `NAME,...`, as frames name them: cfi, fp, ...")
	f.Var(choiceFlag{&s.format, []string{"text", "json"}}, "format", "form of backtraces: text or json")
	f.Var(choiceFlag{&s.color, []string{"auto", "always", "never"}}, "color", "colours: auto, always or never")
	s.files(f)
}

// files registers the flags for finding files, and --log. The command dap has them too.
func (s *shared) files(f *pflag.FlagSet) {
	f.StringVar(&s.sysroot, "sysroot", "", "look for the program's files and sources under `DIR` first")
	f.StringArrayVar(&s.debugDirs, "debug-dir", nil, "look for separate debug files in `DIR`; repeatable (default /usr/lib/debug)")
	f.StringArrayVar(&s.natvis, "natvis", nil, "show values as the views in `FILE` say (Natvis); repeatable")
	s.log = "warn"
	f.Var(choiceFlag{&s.log, []string{"error", "warn", "info", "debug"}}, "log", "messages on standard error: error, warn, info or debug")
}

func (s *shared) config() session.Config {
	c := session.Config{Sysroot: s.sysroot, DebugDirs: s.debugDirs, Debuginfod: debuginfodConfig(s.batch), IndexDir: indexDir(), Indexing: indexing(), Guardian: "/proc/self/exe"}
	if s.log == "info" || s.log == "debug" {
		c.Log = func(format string, args ...any) { fmt.Fprintf(plain.Writer(os.Stderr), "dbg: "+format+"\n", args...) }
	}
	return c
}

// open makes a session, with the views of --natvis.
func (s *shared) open(c session.Config) (*session.Session, error) {
	sess := session.New(c)
	problems, err := sess.AddViews(s.natvis...)
	if err != nil {
		sess.Close()
		return nil, err
	}
	if len(s.sources) > 0 {
		if err := sess.SetStrategies(s.sources...); err != nil {
			sess.Close()
			return nil, usageError{fmt.Errorf("--source: %w", err)}
		}
	}
	for _, p := range problems {
		fmt.Fprintf(plain.Writer(os.Stderr), "dbg: %s\n", p.Error())
	}
	return sess, nil
}

// useColor reports whether standard output should have colours.
func (s *shared) useColor() bool {
	switch {
	case s.color == "always":
		return true
	case s.color == "never" || s.batch || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb":
		return false
	}
	return isTerminal(os.Stdout)
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// historyFile returns the path of the user's command history.
func historyFile() string {
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "dbg", "history")
}

// converse runs the terminal front end on a session, and closes the session at the end.
func (s *shared) converse(ctx context.Context, sess *session.Session) error {
	return converse(ctx, sess, repl.Options{
		Commands: s.commands, Batch: s.batch, JSON: s.format == "json", Color: s.useColor(),
		Terminal: !s.batch && isTerminal(os.Stdin) && isTerminal(os.Stdout), History: historyFile(),
	})
}

func converse(ctx context.Context, sess *session.Session, opts repl.Options) error {
	// Run handles SIGINT. After Run, it must not kill dbg while the session is being closed.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	err := repl.Run(ctx, sess, opts)
	if cerr := sess.CloseGroup(); err == nil {
		err = cerr
	}
	return err
}
