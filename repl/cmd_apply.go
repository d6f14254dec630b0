package repl

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"dbg/session"
)

func applyCommands() []*command {
	const g = "threads"
	return []*command{
		{name: "taas", usage: "COMMAND", group: g, help: "run a command in all threads, without its errors", run: func(sh *shell, args string) error { return threadApply(sh, "all -s "+args) }},
		{name: "faas", usage: "COMMAND", group: g, help: "run a command in all frames, without its errors", run: func(sh *shell, args string) error { return frameApply(sh, "all -s "+args) }},
		{name: "tfaas", usage: "COMMAND", group: g, help: "run a command in all frames of all threads, without its errors", run: func(sh *shell, args string) error { return threadApply(sh, "all -s frame apply all -s "+args) }},
	}
}

// outside is the function of commands that only a block has.
func outside(*shell, string) error {
	return userErrorf("This command cannot be used at the top level.")
}

// blockCommands are in the table for help and completion: shell.run handles them.
func blockCommands() []*command {
	const g = "support"
	return []*command{
		{name: "if", usage: "EXPR", group: g, once: true, help: "run the following commands, up to else or end, if EXPR is not 0", run: outside},
		{name: "else", group: g, once: true, help: "begin the other commands of if", run: outside},
		{name: "while", usage: "EXPR", group: g, once: true, help: "run the following commands, up to end, as long as EXPR is not 0", run: outside},
		{name: "end", group: g, once: true, help: "end a block of commands", run: outside},
		{name: "loop_break", group: g, once: true, help: "leave a while loop", run: outside},
		{name: "loop_continue", group: g, once: true, help: "continue with the next round of a while loop", run: outside},
		{name: "define", usage: "NAME", group: g, once: true, help: "make a command of the following ones, up to end; its words are $arg0, $arg1, ..., $argc", run: outside},
		{name: "document", usage: "NAME", group: g, once: true, help: "describe a user-defined command with the following lines, up to end", run: outside},
		{name: "commands", usage: "[N...]", group: "breakpoints", once: true, help: "run the following commands, up to end, when a breakpoint is hit", run: outside},
		{name: "silent", group: g, once: true, help: "as the first of a breakpoint's commands: print nothing at its stop", run: outside},
	}
}

// applyFlags takes the flags off the arguments of an apply command: quiet omits the headers, and
// errors of the command are skipped or printed instead of ending it.
func applyFlags(args string) (quiet, skip, carryOn bool, rest string) {
	for {
		word, after := cutWord(args)
		switch word {
		case "-q":
			quiet = true
		case "-s":
			skip = true
		case "-c":
			carryOn = true
		default:
			return quiet, skip, carryOn, args
		}
		args = after
	}
}

// frameApply runs a command in several frames, and then selects the previous one again.
func frameApply(sh *shell, args string) error {
	if err := sh.stack(); err != nil {
		return err
	}
	word, rest := cutWord(args)
	t, level := sh.sess.Selected()
	bt, err := sh.sess.Backtrace(t, 0, 0)
	if err != nil {
		return err
	}
	list := bt.Frames
	n, err := strconv.Atoi(word)
	switch {
	case word == "all":
	case word == "level":
		word, rest = cutWord(rest)
		ids, err := numbers(word)
		if err != nil {
			return userErrorf("Invalid frame level: %s", word)
		}
		var chosen []session.Frame
		for _, id := range ids {
			if id >= len(list) {
				return userErrorf("No frame at level %s.", word)
			}
			chosen = append(chosen, list[id])
		}
		list = chosen
	case err != nil:
		return userErrorf("Missing COUNT argument.")
	case n >= 0:
		list = list[:min(n, len(list))]
	default:
		list = list[max(0, len(list)+n):]
	}
	quiet, skip, carryOn, rest := applyFlags(rest)
	if rest == "" {
		return userErrorf("Please specify a command to apply on the selected frames")
	}
	for i := range list {
		if sh.interrupted() {
			return errUserQuit
		}
		if _, err := sh.sess.SelectFrame(list[i].Level); err != nil {
			return err
		}
		if !quiet && !skip {
			v, err := sh.selectedView(false)
			if err != nil {
				return err
			}
			fmt.Fprintln(sh.out, sh.names().level(&v))
		}
		err := sh.do(rest)
		switch {
		case err == nil || skip:
		case carryOn:
			fmt.Fprintln(sh.out, message(err))
		default:
			return err
		}
	}
	if sh.stack() == nil {
		_, err = sh.sess.SelectFrame(level)
	}
	return err
}

// nameThread gives the selected thread a name of the user's own; "" is its own again.
func nameThread(sh *shell, name string) error {
	if err := sh.stack(); err != nil {
		return userErrorf("No thread selected")
	}
	return sh.sess.NameThread(selectedThread(sh), strings.TrimSpace(name))
}

// findThread lists the threads whose names, ids or LWPs match.
func findThread(sh *shell, expr string) error {
	re, err := regexp.Compile(expr)
	if err != nil {
		return fmt.Errorf("Invalid regexp: %w", err) //lint:ignore ST1005 gdb's words
	}
	list, err := sh.sess.Threads()
	if err != nil {
		return err
	}
	found := false
	for _, t := range list {
		if re.MatchString(t.Name) {
			fmt.Fprintf(sh.out, "Thread %d has name '%s'\n", t.Number, t.Name)
			found = true
		}
		if id := threadName(sh.sess, t); re.MatchString(id) {
			fmt.Fprintf(sh.out, "Thread %d has target id '%s'\n", t.Number, id)
			found = true
		}
	}
	if !found {
		fmt.Fprintf(sh.out, "No threads match '%s'\n", expr)
	}
	return nil
}
