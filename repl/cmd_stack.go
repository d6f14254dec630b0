package repl

import (
	"errors"
	"fmt"
	"strconv"

	"dbg/session"
)

func stackCommands() []*command {
	const g = "stack"
	return []*command{
		{name: "backtrace", aliases: []string{"bt", "where"}, usage: "[N | -N | full]", group: g, help: "print the stack: all frames, the innermost N, or the outermost N (-N)", words: fixedWords("full"), run: backtrace},
		{name: "frame", aliases: []string{"f"}, usage: "[N] | why [N]", group: g, help: "select and print a frame; why: how it was found", words: fixedWords("why"), run: frame},
		{name: "up", usage: "[N]", group: g, help: "select the caller's frame", run: move(+1)},
		{name: "down", aliases: []string{"do", "dow"}, usage: "[N]", group: g, help: "select the called frame", run: move(-1)},
	}
}

var errNoStack = userErrorf("No stack.")

// stack returns an error if there is no stack.
func (sh *shell) stack() error {
	switch sh.sess.State() {
	case session.IsStopped, session.IsCore:
		return nil
	}
	return errNoStack
}

func backtrace(sh *shell, args string) error {
	if err := sh.stack(); err != nil {
		return err
	}
	b := textBacktrace{w: sh.out, names: sh.names(), cancel: sh.interrupted, format: sh.argumentFormat()}
	n := 0
	for args != "" {
		var w string
		w, args = cutWord(args)
		switch w {
		case "full", "-full":
			b.full = true
		case "-past-main":
		case "-frame-arguments", "-entry-values":
			value, rest := cutWord(args)
			setting, opt := wordSettings[w[1:]], printOptions{frame: b.names.frame}
			if err := setting.set(&opt, value); err != nil {
				return err
			}
			b.names.frame, args = opt.frame, rest
		default:
			var err error
			if n, err = strconv.Atoi(w); err != nil {
				return fmt.Errorf("backtrace: expected a number or \"full\", not %q", w)
			}
		}
	}
	t, err := sh.selectedThreadInfo()
	if err != nil {
		return err
	}
	if sh.opts.JSON {
		err := writeJSON(sh.out, sh.sess, []session.ThreadInfo{t}, BacktraceOptions{MaxFrames: max(n, 0)}, sh.interrupted)
		return err
	}
	if n < 0 {
		return b.last(sh.sess, t, -n)
	}
	b.limit = n
	return b.write(sh.sess, t)
}

func (sh *shell) selectedThreadInfo() (session.ThreadInfo, error) {
	list, err := sh.sess.Threads()
	if err != nil {
		return session.ThreadInfo{}, err
	}
	for _, t := range list {
		if t.Selected {
			return t, nil
		}
	}
	return session.ThreadInfo{}, userErrorf("No thread selected")
}

func frame(sh *shell, args string) error {
	if err := sh.stack(); err != nil {
		return err
	}
	switch w, rest := cutWord(args); w {
	case "level":
		args = rest
	case "apply":
		return frameApply(sh, rest)
	case "why":
		return why(sh, rest)
	}
	if args != "" {
		v, err := sh.sess.Evaluate(selectedThread(sh), selectedLevel(sh), args)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(sh.sess.Format(v, decimal))
		if err != nil {
			return fmt.Errorf("expected a frame number, not %q", args)
		}
		if _, err := sh.sess.SelectFrame(n); err != nil {
			return frameError(err, n)
		}
		sh.list.reset()
	}
	return sh.printFrame()
}

func selectedLevel(sh *shell) int {
	_, l := sh.sess.Selected()
	return l
}

func move(by int) func(*shell, string) error {
	return func(sh *shell, args string) error {
		if err := sh.stack(); err != nil {
			return err
		}
		n, err := count(args)
		if err != nil {
			return err
		}
		level := selectedLevel(sh)
		to := level + n*by
		if to < 0 {
			if level == 0 {
				return userErrorf("Bottom (innermost) frame selected; you can't go down.")
			}
			to = 0
		}
		_, err = sh.sess.SelectFrame(to)
		if errors.Is(err, session.ErrNoFrame) {
			if top, ok := sh.outermost(level); ok && top > level {
				_, err = sh.sess.SelectFrame(top)
			} else {
				return userErrorf("Initial frame selected; you can't go up.")
			}
		}
		if err != nil {
			return err
		}
		sh.list.reset()
		return sh.printFrame()
	}
}

// outermost returns the highest level of the stack.
func (sh *shell) outermost(from int) (int, bool) {
	last, found := 0, false
	_, err := sh.sess.EachFrame(selectedThread(sh), from, func(f *session.Frame) bool {
		last, found = f.Level, true
		return !sh.interrupted()
	})
	return last, found && err == nil
}

// frameError returns gdb's message for a level that does not exist.
func frameError(err error, n int) error {
	if errors.Is(err, session.ErrNoFrame) {
		return userErrorf("No frame at level %d.", n)
	}
	return err
}
