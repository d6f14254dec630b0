package repl

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"dbg/session"
	"dbg/target"
)

func inferiorCommands() []*command {
	const g = "running"
	return []*command{
		{name: "inferior", usage: "[N]", group: g, help: "show or select the inferior: a process, or a program to be run", run: inferior},
		{name: "add-inferior", usage: "[-exec FILE] [-copies N]", group: g, once: true, help: "add an inferior", words: fixedWords("-exec", "-copies", "-no-connection"), run: addInferior},
		{name: "clone-inferior", usage: "[-copies N] [ID]", group: g, once: true, help: "add an inferior with the same program", words: fixedWords("-copies"), run: cloneInferior},
		{name: "remove-inferiors", usage: "ID...", group: g, once: true, help: "remove inferiors that are not running", run: removeInferiors},
		{name: "interrupt", group: g, help: "stop the running program; at a prompt it is stopped already", run: func(*shell, string) error { return nil }},
		{name: "disconnect", group: g, once: true, help: "leave a remote target; dbg has none", run: func(*shell, string) error {
			return userErrorf("You can't do that when your target is `native'")
		}},
		{name: "target", usage: "native | exec FILE | core FILE", group: g, once: true, help: "choose what is debugged", words: fixedWords("native", "exec", "core"), run: chooseTarget},
	}
}

// programPath returns the absolute path of an inferior's program, or "".
func programPath(s *session.Session) string {
	exe := s.Program().Path
	if abs, err := filepath.Abs(exe); exe != "" && err == nil {
		exe = abs
	}
	return exe
}

// inferiorText describes an inferior as gdb does.
func inferiorText(s *session.Session) string {
	what, exe := "<null>", programPath(s)
	if t, ok := s.Target(); ok {
		what, exe = fmt.Sprintf("process %d", t.PID), t.Exe
	}
	if exe == "" {
		exe = "<noexec>"
	}
	return fmt.Sprintf("%d [%s] (%s)", s.Number(), what, exe)
}

func inferior(sh *shell, args string) error {
	if args == "" {
		fmt.Fprintf(sh.out, "[Current inferior is %s]\n", inferiorText(sh.sess))
		return nil
	}
	s, err := sh.inferiorByID(args)
	if err != nil {
		return err
	}
	sh.turnTo(s)
	fmt.Fprintf(sh.out, "[Switching to inferior %s]\n", inferiorText(s))
	if sh.stack() != nil {
		return nil
	}
	if t, err := sh.selectedThreadInfo(); err == nil {
		fmt.Fprintf(sh.out, "[Switching to thread %s (%s)]\n", sh.threadID(t.Number), threadName(sh.sess, t))
	}
	return sh.printFrame()
}

// copies takes "-copies N" from the front of args.
func copies(args string) (n int, rest string, err error) {
	word, after := cutWord(args)
	if word != "-copies" {
		return 1, args, nil
	}
	number, rest := cutWord(after)
	const most = 1000
	if n, err = strconv.Atoi(number); err != nil || n < 0 || n > most {
		return 0, "", userErrorf("Invalid copies number")
	}
	return n, rest, nil
}

func addInferior(sh *shell, args string) error {
	n, exe := 1, ""
	for args != "" {
		var err error
		word, rest := cutWord(args)
		switch word {
		case "-copies":
			if n, rest, err = copies(args); err != nil {
				return err
			}
		case "-exec":
			if exe, rest = cutWord(rest); exe == "" {
				return userErrorf("No argument to -exec")
			}
		case "-no-connection":
		default:
			return userErrorf("Invalid argument")
		}
		args = rest
	}
	for i := 0; i < n; i++ {
		s, err := sh.newInferior(exe, nil)
		if err != nil {
			return err
		}
		fmt.Fprintf(sh.out, "Added inferior %d\n", s.Number())
	}
	return nil
}

// newInferior adds an inferior with a program, or without one if exe is "".
func (sh *shell) newInferior(exe string, args []string) (*session.Session, error) {
	s, err := sh.sess.NewSession()
	if err != nil {
		return nil, err
	}
	if exe == "" {
		return s, nil
	}
	p := session.Program{Path: exe, Args: args, Terminal: sh.opts.Terminal}
	if err := s.Load(p); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func cloneInferior(sh *shell, args string) error {
	n, rest, err := copies(args)
	if err != nil {
		return err
	}
	from := sh.sess
	if rest != "" {
		if from, err = sh.inferiorByID(rest); err != nil {
			return err
		}
	}
	p := from.Program()
	for i := 0; i < n; i++ {
		s, err := sh.newInferior(p.Path, p.Args)
		if err != nil {
			return err
		}
		fmt.Fprintf(sh.out, "[New inferior %d]\nAdded inferior %d\n", s.Number(), s.Number())
	}
	return nil
}

func removeInferiors(sh *shell, args string) error {
	if args == "" {
		return userErrorf("Requires an argument (inferior id(s) to remove)")
	}
	for _, word := range strings.Fields(args) {
		s, err := sh.inferiorByID(word)
		if err != nil {
			fmt.Fprintf(sh.err, "warning: Inferior ID %s is not known.\n", word)
			continue
		}
		if s.Number() == sh.sess.Number() {
			fmt.Fprintln(sh.err, "warning: Can not remove current inferior.")
			continue
		}
		if _, live := s.Target(); live {
			fmt.Fprintf(sh.err, "warning: Can not remove active inferior %s.\n", word)
			continue
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}

// onInferiors runs kill or detach for the inferiors that args lists: "inferiors 1 2".
func (sh *shell) onInferiors(args string, do func(*shell, string) error) (handled bool, err error) {
	word, rest := cutWord(args)
	if word != "inferiors" && word != "inferior" {
		return false, nil
	}
	ids, err := numbers(rest)
	if err != nil || len(ids) == 0 {
		return true, userErrorf("Requires an argument (inferior id(s) to act on)")
	}
	was := sh.base
	for _, id := range ids {
		s, err := sh.inferiorByID(strconv.Itoa(id))
		switch {
		case err != nil:
			fmt.Fprintf(sh.err, "warning: Inferior ID %d not known.\n", id)
		case s.State() != session.IsStopped:
			fmt.Fprintf(sh.err, "warning: Inferior ID %d is not running.\n", id)
		default:
			sh.turnTo(s)
			if err := do(sh, ""); err != nil {
				return true, err
			}
		}
	}
	sh.turnTo(was)
	return true, nil
}

func infoInferiors(sh *shell, args string) error {
	type row struct{ mark, number, what, connection, exe string }
	var rows []row
	width, whats := len("Executable "), 17
	for _, s := range sh.sess.Group() {
		r := row{" ", strconv.Itoa(s.Number()), "<null>", "", programPath(s)}
		if s.Number() == sh.sess.Number() {
			r.mark = "*"
		}
		if t, ok := s.Target(); ok {
			r.what, r.connection, r.exe = fmt.Sprintf("process %d", t.PID), "1 (native)", t.Exe
			if t.Kind == target.Core {
				r.connection = "1 (core)"
			}
		}
		rows = append(rows, r)
		width, whats = max(width, len(r.exe)+1), max(whats, len(r.what))
	}
	fmt.Fprintf(sh.out, "  %-4s %-*s %-20s %-*s\n", "Num", whats, "Description", "Connection", width, "Executable")
	for _, r := range rows {
		fmt.Fprintf(sh.out, "%s %-4s %-*s %-20s %-*s\n", r.mark, r.number, whats, r.what, r.connection, width, r.exe)
	}
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
