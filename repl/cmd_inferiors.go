package repl

import (
	"fmt"
	"path/filepath"
	"strconv"

	"dbg/session"
	"dbg/target"
)

// A session has one process, gdb's inferior 1.

func inferiorCommands() []*command {
	const g = "running"
	return []*command{
		{name: "inferior", usage: "[1]", group: g, help: "show or select the process; there is one", run: inferior},
		{name: "interrupt", group: g, help: "stop the running program; at a prompt it is stopped already", run: func(*shell, string) error { return nil }},
		{name: "disconnect", group: g, once: true, help: "leave a remote target; dbg has none", run: func(*shell, string) error {
			return userErrorf("You can't do that when your target is `native'")
		}},
		{name: "target", usage: "native | exec FILE | core FILE", group: g, once: true, help: "choose what is debugged", words: fixedWords("native", "exec", "core"), run: chooseTarget},
	}
}

// inferiorText describes the process as gdb does.
func (sh *shell) inferiorText() string {
	exe := sh.sess.Program().Path
	if abs, err := filepath.Abs(exe); exe != "" && err == nil {
		exe = abs
	}
	if t, ok := sh.sess.Target(); ok {
		return fmt.Sprintf("1 [process %d] (%s)", t.PID, t.Exe)
	}
	return fmt.Sprintf("1 [<null>] (%s)", exe)
}

func inferior(sh *shell, args string) error {
	if args == "" {
		fmt.Fprintf(sh.out, "[Current inferior is %s]\n", sh.inferiorText())
		return nil
	}
	if n, err := strconv.Atoi(args); err != nil || n != 1 {
		return userErrorf("Inferior ID %s not known.", args)
	}
	fmt.Fprintf(sh.out, "[Switching to inferior %s]\n", sh.inferiorText())
	if sh.stack() != nil {
		return nil
	}
	if t, err := sh.selectedThreadInfo(); err == nil {
		fmt.Fprintf(sh.out, "[Switching to thread %d (%s)]\n", t.Number, threadName(sh.sess, t))
	}
	return sh.printFrame()
}

// onInferiors runs kill or detach for the processes that args lists: "inferiors 1".
func (sh *shell) onInferiors(args string, do func(*shell, string) error) (handled bool, err error) {
	word, rest := cutWord(args)
	if word != "inferiors" && word != "inferior" {
		return false, nil
	}
	ids, err := numbers(rest)
	if err != nil || len(ids) == 0 {
		return true, userErrorf("Requires an argument (inferior id(s) to act on)")
	}
	for _, id := range ids {
		switch {
		case id != 1:
			fmt.Fprintf(sh.err, "warning: Inferior ID %d not known.\n", id)
		case sh.sess.State() != session.IsStopped:
			fmt.Fprintf(sh.err, "warning: Inferior ID %d is not running.\n", id)
		default:
			if err := do(sh, ""); err != nil {
				return true, err
			}
		}
	}
	return true, nil
}

func infoInferiors(sh *shell, args string) error {
	what, connection := "<null>", ""
	exe := sh.sess.Program().Path
	if abs, err := filepath.Abs(exe); exe != "" && err == nil {
		exe = abs
	}
	if t, ok := sh.sess.Target(); ok {
		what, connection, exe = fmt.Sprintf("process %d", t.PID), "1 (native)", t.Exe
		if t.Kind == target.Core {
			connection = "1 (core)"
		}
	}
	width := max(len("Executable "), len(exe)+1)
	fmt.Fprintf(sh.out, "  %-4s %-17s %-20s %-*s\n", "Num", "Description", "Connection", width, "Executable")
	fmt.Fprintf(sh.out, "* %-4d %-17s %-20s %-*s\n", 1, what, connection, width, exe)
	return nil
}

func chooseTarget(sh *shell, args string) error {
	switch word, rest := cutWord(args); word {
	case "native":
		return userErrorf("The \"native\" target does not take any arguments: use run or attach.")
	case "exec":
		return loadFile(sh, rest)
	case "core":
		return openCore(sh, rest)
	case "":
		return userErrorf("Argument required (target name).  Try `help target'")
	default:
		return userErrorf("Undefined target command: \"%s\".  Try \"help target\".", word)
	}
}
