package repl

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"dbg/session"
	"dbg/target"
)

func settingCommands() []*command {
	const g = "settings"
	return []*command{
		{name: "set", usage: "var EXPR | args ARGS | NAME VALUE", group: g, help: "assign to a variable of the program, or change a setting", words: setWords, run: set},
		{name: "show", usage: "NAME", group: g, help: "show a setting: args, confirm, listsize, version", words: fixedWords("args", "confirm", "listsize", "version"), run: show},
		{name: "handle", usage: "SIGNAL... [no]stop|[no]print|[no]pass", group: g, help: "change how a signal is handled", words: signalWords, run: handle},
	}
}

// set changes a setting. If the first word is not a setting, the arguments are an expression, as in
// gdb.
func set(sh *shell, args string) error {
	word, rest := cutWord(args)
	switch word {
	case "":
		return userErrorf("\"set\" must be followed by a setting or by var EXPR.")
	case "var", "variable":
		return sh.assign(rest)
	case "args":
		return sh.setArgs(rest)
	case "scheduler-locking":
		return sh.setLocking(rest)
	case "environment", "env", "cwd", "startup-with-shell", "exec-wrapper", "disable-randomization", "inferior-tty":
		return sh.setProgram(word, rest)
	case "follow-fork-mode", "follow-exec-mode", "detach-on-fork", "schedule-multiple":
		return sh.setFollowing(word, rest)
	case "print", "p", "pr":
		return sh.setPrint(rest)
	case "language", "lang":
		return sh.setLanguage(rest)
	case "output-radix", "input-radix", "radix":
		return sh.setRadix(word, strings.TrimSpace(rest))
	case "confirm":
		on, err := onOff(rest)
		sh.settings.confirm = on
		return err
	case "unwindonsignal", "unwind-on-signal":
		on, err := onOff(rest)
		if err == nil {
			sh.sess.SetUnwindOnSignal(on)
		}
		return err
	case "step-mode":
		on, err := onOff(rest)
		if err == nil {
			sh.sess.SetStepMode(on)
		}
		return err
	case "disassembly-flavor":
		switch rest {
		case "att", "intel":
			sh.sess.SetIntelSyntax(rest == "intel")
			return nil
		case "":
			return userErrorf("Requires an argument. Valid arguments are att, intel.")
		}
		return userErrorf("Undefined item: \"%s\".", rest)
	case "unwind-source", "unwind-sources":
		return sh.sess.SetStrategies(strategyList(rest)...)
	case "listsize":
		n, err := strconv.Atoi(rest)
		if rest == "unlimited" || rest == "-1" {
			n, err = unlimited, nil
		}
		if err != nil || n < 1 {
			return fmt.Errorf("listsize must be a number above 0, or \"unlimited\", not %q", rest)
		}
		sh.settings.listSize = n
		return nil
	case "can-use-hw-watchpoints":
		n, err := strconv.Atoi(strings.TrimSpace(rest))
		if err != nil {
			return userErrorf("Argument required (integer to set it to.).")
		}
		sh.sess.SetHardwareWatches(n != 0)
		return nil
	case "use-coredump-filter":
		on, err := onOff(rest)
		sh.settings.ignoreFilter = !on
		return err
	case "dump-excluded-mappings":
		on, err := onOff(rest)
		sh.settings.dumpExcluded = on && err == nil
		return err
	case "breakpoint":
		if what, value := cutWord(rest); what == "pending" && (value == "on" || value == "off" || value == "auto") {
			sh.settings.pending = value
			return nil
		}
		return errors.New("usage: set breakpoint pending on|off|auto")
	case "pagination", "height", "verbose", "width", "style":
		// gdb's scripts switch these off, which is how dbg always is.
		if value := strings.TrimSpace(rest); value == "off" || value == "0" || value == "unlimited" || strings.HasSuffix(value, " off") {
			return nil
		}
		return fmt.Errorf("dbg has no %s; \"set %s off\" is accepted, since scripts have it", word, word)
	case "logging":
		return errors.New("dbg does not write its output to a file; the shell does: dbg … | tee FILE")
	}
	if strings.Contains(args, "=") || strings.HasPrefix(args, "$") {
		return sh.assign(args)
	}
	return fmt.Errorf("there is no setting %q; to assign to a variable: set var NAME = VALUE", word)
}

// strategyList splits names at commas and blanks; "all" is none.
func strategyList(text string) []string {
	list := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
	if len(list) == 1 && list[0] == "all" {
		return nil
	}
	return list
}

func (sh *shell) assign(expr string) error {
	if expr == "" {
		return userErrorf("Argument required (expression to compute).")
	}
	_, err := sh.evaluate(expr)
	return err
}

func (sh *shell) setArgs(line string) error {
	if sh.useShell(line) {
		sh.argsLine = line
		return sh.sess.SetShell(session.ShellSettings{Line: line, Wrapper: sh.settings.wrapper})
	}
	words, err := splitWords(line)
	if err != nil {
		return err
	}
	sh.argsLine = line
	if err := sh.sess.SetShell(session.ShellSettings{Wrapper: sh.settings.wrapper}); err != nil {
		return err
	}
	return sh.sess.SetArgs(words)
}

func onOff(s string) (bool, error) {
	switch s {
	case "on", "1", "yes", "enable", "":
		return true, nil
	case "off", "0", "no", "disable":
		return false, nil
	}
	return true, userErrorf("\"on\" or \"off\" expected.")
}

func onOrOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func show(sh *shell, args string) error {
	word, rest := cutWord(args)
	if word == "environment" || word == "env" {
		return sh.showEnvironment(rest)
	}
	if word == "print" || word == "pr" || word == "p" {
		return sh.showPrint(rest)
	}
	switch args {
	case "args":
		fmt.Fprintf(sh.out, "Argument list to give program being debugged when it is started is \"%s\".\n", sh.argsLine)
	case "confirm":
		fmt.Fprintf(sh.out, "Whether to confirm potentially dangerous operations is %s.\n", onOrOff(sh.settings.confirm))
	case "listsize":
		size := strconv.Itoa(sh.settings.listSize)
		if sh.settings.listSize == unlimited {
			size = "unlimited"
		}
		fmt.Fprintf(sh.out, "Number of source lines dbg will list by default is %s.\n", size)
	case "unwind-source", "unwind-sources":
		names := "all"
		if list := sh.sess.Strategies(); len(list) > 0 {
			names = strings.Join(list, ",")
		}
		fmt.Fprintf(sh.out, "Strategies that find frames: %s.\n", names)
	case "language", "lang":
		sh.showLanguage()
	case "output-radix", "input-radix":
		sh.showRadix(args)
	case "unwindonsignal", "unwind-on-signal":
		fmt.Fprintf(sh.out, "Unwinding of stack if a signal is received while in a call dummy is %s.\n", onOrOff(sh.sess.UnwindOnSignal()))
	case "step-mode":
		fmt.Fprintf(sh.out, "Mode of the step operation is %s.\n", onOrOff(sh.sess.StepMode()))
	case "disassembly-flavor":
		flavor := "att"
		if sh.sess.IntelSyntax() {
			flavor = "intel"
		}
		fmt.Fprintf(sh.out, "The disassembly flavor is \"%s\".\n", flavor)
	case "follow-fork-mode", "follow-exec-mode", "detach-on-fork", "schedule-multiple":
		sh.showFollowing(args)
	case "can-use-hw-watchpoints":
		n := 0
		if sh.sess.HardwareWatches() {
			n = 1
		}
		fmt.Fprintf(sh.out, "Debugger's willingness to use watchpoint hardware is %d.\n", n)
	case "scheduler-locking":
		fmt.Fprintf(sh.out, "Mode for locking scheduler during execution is \"%s\".\n", lockingWords[sh.sess.Locking()])
	case "environment", "env", "cwd", "startup-with-shell", "exec-wrapper", "disable-randomization":
		sh.showProgram(args)
	case "use-coredump-filter":
		fmt.Fprintf(sh.out, "Use of /proc/PID/coredump_filter file to generate corefiles is %s.\n", onOrOff(!sh.settings.ignoreFilter))
	case "dump-excluded-mappings":
		fmt.Fprintf(sh.out, "Dumping of mappings marked with the VM_DONTDUMP flag is %s.\n", onOrOff(sh.settings.dumpExcluded))
	case "version":
		fmt.Fprintln(sh.out, "dbg; for more: dbg version")
	case "convenience", "conv":
		return errors.New("dbg can't list convenience variables yet; to show one: print $NAME")
	default:
		return fmt.Errorf("there is no setting %q", args)
	}
	return nil
}

// mayQuit asks whether to quit while a program is live.
func (sh *shell) mayQuit() bool {
	var list strings.Builder
	for _, s := range sh.sess.Group() {
		t, ok := s.Target()
		if !ok || s.State() == session.IsCore {
			continue
		}
		fate := "killed"
		if t.Kind == target.Attached {
			fate = "detached"
		}
		fmt.Fprintf(&list, "\tInferior %d [process %d] will be %s.\n", s.Number(), t.PID, fate)
	}
	return list.Len() == 0 || sh.ask("A debugging session is active.\n\n"+list.String()+"\nQuit anyway? (y or n) ")
}

// lockingWords are gdb's names of the modes. Its "replay" is "off" here: dbg records no execution.
var lockingWords = map[session.Locking]string{session.LockOff: "replay", session.LockOn: "on", session.LockStep: "step"}

func (sh *shell) setLocking(word string) error {
	modes := map[string]session.Locking{"off": session.LockOff, "replay": session.LockOff, "on": session.LockOn, "step": session.LockStep}
	l, ok := modes[strings.TrimSpace(word)]
	if !ok {
		return userErrorf("Undefined item: \"%s\".", word)
	}
	return sh.sess.SetLocking(l)
}
