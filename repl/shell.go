package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"dbg/internal/plain"
	"dbg/session"
	"dbg/symbols/types"
	"dbg/target"
)

// shell is the state of one call of Run.
type shell struct {
	ctx    context.Context
	sess   *session.Session // the current inferior
	base   *session.Session // sess without the context of the current command
	opts   Options
	out    *output
	err    io.Writer
	events <-chan session.Event
	input  lineReader // nil in a batch
	cwd    string

	interrupts chan os.Signal  // receives Ctrl-C
	command    context.Context // of the current command, cancelled by Ctrl-C; nil if there is none
	unwatch    func()          // of attend
	rewatch    func()

	last     string // the command that an empty line repeats; "" if none
	repeated bool   // the current command is a repetition
	depth    int    // of nested source commands
	failed   bool   // a command has failed
	quiet    bool   // in a batch: do not print what a command will do, as in gdb -batch
	scripted bool   // the current command comes from a file or from the command line

	list     listState
	examine  examineState
	displays []display
	settings settings
	tty      ttyModes
	argsLine string // the text of "set args"

	lastThread target.ThreadID // the thread whose stop or selection was shown last

	more      readLine                // the lines that follow the current command, for its block
	defined   map[string]*userCommand // by name
	arguments [][]string              // of the user-defined commands that run
	commands  map[int]block           // of breakpoints, by number
	newest    []int                   // the breakpoints that were set last
	actions   []block                 // of the breakpoints that were hit, to be run
	acting    bool                    // they run
	stops     int                     // counts stops
	queued    int                     // the signal of queue-signal, or 0
	queuedAt  int                     // the value of stops then
}

// settings are the values that "set NAME" changes.
type settings struct {
	print    printOptions
	types    types.DefinitionOptions // of ptype
	confirm  bool
	pending  string // breakpoint pending: on, off, auto
	listSize int
	noShell  bool   // startup-with-shell off
	wrapper  string // exec-wrapper
	random   bool   // disable-randomization off

	ignoreFilter bool // use-coredump-filter off
	dumpExcluded bool // dump-excluded-mappings on
}

// prompt is printed before a command is read.
const prompt = "(dbg) "

// errQuit ends the loop.
var errQuit = errors.New("quit")

// Run serves sess until the user quits, the input ends, a batch is done, or ctx is done. It does
// not close the session, which kills or releases a program that is left.
func Run(ctx context.Context, sess *session.Session, opts Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sh := newShell(ctx, cancel, sess, opts)
	events, unsubscribe := sess.SubscribeGroup()
	defer unsubscribe()
	sh.events = events
	signal.Notify(sh.interrupts, os.Interrupt)
	defer signal.Stop(sh.interrupts)
	defer sh.out.Flush()

	sh.greet()
	err := sh.runCommands(opts.Commands)
	if err == nil && !opts.Batch {
		if opts.Before != "" {
			fmt.Fprintln(sh.out, opts.Before)
		}
		err = sh.interact()
	}
	sh.idle()
	var exit *ExitError
	switch {
	case errors.As(err, &exit):
		return err
	case sh.out.failed.Load():
		return nil // the reader of the output is gone
	case err != nil && !errors.Is(err, errQuit):
		return err
	case opts.Batch && sh.failed:
		return &ExitError{1}
	}
	return nil
}

func newShell(ctx context.Context, cancel func(), sess *session.Session, opts Options) *shell {
	if opts.In == nil {
		opts.In = os.Stdin
	}
	if opts.Out == nil {
		opts.Out = os.Stdout
	}
	if opts.Err == nil {
		opts.Err = os.Stderr
	}
	sh := &shell{
		ctx: ctx, sess: sess, base: sess, opts: opts, out: newOutput(opts.Out, cancel), err: plain.Writer(opts.Err),
		interrupts: make(chan os.Signal, 4),
		settings:   settings{print: defaultPrint(), confirm: true, pending: "auto", listSize: 10},
		argsLine:   joinWords(sess.Program().Args),
	}
	sh.cwd, _ = os.Getwd()
	sess.SetSettings(sh.setting)
	return sh
}

// runCommands runs the commands of the command line. In a batch, a failed command does not prevent
// the next ones.
func (sh *shell) runCommands(list []Command) error {
	sh.scripted = true
	defer func() { sh.scripted = false }()
	for i := 0; i < len(list); i++ {
		c := list[i]
		sh.more = func(string) (string, error) { // the next commands are the block
			if i+1 == len(list) || list[i+1].File != "" {
				return "", io.EOF
			}
			i++
			return list[i].Text, nil
		}
		sh.quiet = sh.opts.Batch && !c.Show
		sh.idle()
		var err error
		if c.Say != "" {
			fmt.Fprintf(sh.out, "\n%s\n", c.Say)
		}
		if c.Show {
			fmt.Fprintf(sh.out, "%s%s\n", prompt, c.Text)
		}
		if c.File != "" {
			err = sh.sourceFile(c.File)
		} else {
			err = sh.do(c.Text)
		}
		if err := sh.report(err); err != nil {
			return err
		}
	}
	return nil
}

// announce prints what a command will do.
func (sh *shell) announce(format string, args ...any) {
	if !sh.quiet {
		fmt.Fprintf(sh.out, format, args...)
	}
}

// report prints an error. It returns an error only if Run must end.
func (sh *shell) report(err error) error {
	var exit *ExitError
	switch {
	case sh.ctx.Err() != nil:
		return sh.ctx.Err()
	case err == nil:
		return nil
	case errors.Is(err, errQuit), errors.As(err, &exit), errors.Is(err, session.ErrClosed):
		return err
	}
	sh.failed = true
	var called *session.CallError
	if errors.As(err, &called) {
		sh.idle() // where the called function has stopped is shown first
	}
	sh.out.Flush()
	if errors.Is(err, context.Canceled) { // by Ctrl-C
		fmt.Fprintln(sh.err, "Quit")
		return nil
	}
	fmt.Fprintln(sh.err, message(err))
	return nil
}

// interact reads commands until there are no more.
func (sh *shell) interact() error {
	in, err := sh.openInput()
	if err != nil {
		return err
	}
	sh.input = in
	defer in.close()
	for {
		sh.idle()
		sh.more = in.read
		line, err := in.read(prompt)
		switch {
		case sh.ctx.Err() != nil:
			return sh.ctx.Err()
		case errors.Is(err, errInterrupted):
			fmt.Fprintln(sh.out, "Quit")
			sh.last = ""
			continue
		case errors.Is(err, io.EOF):
			if !sh.opts.Terminal {
				return nil
			}
			fmt.Fprintln(sh.out, "quit")
			line = "quit"
		case err != nil:
			return err
		}
		sh.idle() // the program may have been killed while the user typed
		if err := sh.report(sh.typed(line)); err != nil {
			return err
		}
	}
}

// typed runs a line that the user typed. An empty line repeats the last one.
func (sh *shell) typed(line string) error {
	line = strings.TrimSpace(line)
	sh.repeated = line == ""
	if sh.repeated {
		line = sh.last
	}
	if line == "" {
		return nil
	}
	sh.last = line
	sh.drainInterrupts()
	return sh.do(line)
}

// do executes one command line.
func (sh *shell) do(line string) error {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return nil
	}
	err := sh.run(line)
	if actErr := sh.runActions(); err == nil {
		err = actErr
	}
	return err
}

// run executes one command line, without the commands of breakpoints that it hits.
func (sh *shell) run(line string) error {
	if name, ok := takesBlock(line); ok {
		if sh.more == nil {
			return blockError(io.EOF)
		}
		sh.last = ""
		if name == "commands" && sh.opts.Terminal && !sh.scripted {
			fmt.Fprintln(sh.out, "Type commands for breakpoint(s), one per line.\nEnd with a line saying just \"end\".")
			sh.out.Flush()
		}
		left := maxBlock
		l, err := readBlockOf(sh.more, line, name, 1, &left)
		if err != nil {
			return err
		}
		return sh.doBlockCommand(&l)
	}
	if c := sh.defined[firstWord(line)]; c != nil {
		_, args := cutWord(line)
		return sh.callUser(c, args)
	}
	cmd, args, err := find(line)
	if err != nil {
		sh.last = ""
		return err
	}
	if cmd.once {
		sh.last = ""
	}
	if !sh.repeated {
		sh.list.continued, sh.examine.continued = false, false
	}
	defer sh.attend()()
	return cmd.run(sh, args)
}

// drainInterrupts discards a Ctrl-C that arrived before the current command.
func (sh *shell) drainInterrupts() {
	for {
		select {
		case <-sh.interrupts:
		default:
			return
		}
	}
}
