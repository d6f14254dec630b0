package repl

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"dbg/session"
)

func programCommands() []*command {
	const g = "running"
	return []*command{
		{name: "starti", usage: "[ARGS]", group: g, once: true, help: "start the program and stop at its first instruction", run: startInstruction},
		{name: "file", usage: "FILE", group: g, once: true, help: "debug the program in FILE", run: loadFile},
		{name: "exec-file", usage: "FILE", group: g, once: true, help: "debug the program in FILE", run: loadFile},
		{name: "attach", usage: "PID", group: g, once: true, help: "debug a running process", run: attachTo},
		{name: "core-file", aliases: []string{"core"}, usage: "FILE", group: g, once: true, help: "examine a core file", run: openCore},
		{name: "tty", usage: "FILE", group: g, once: true, help: "the terminal of the program when it is started next", run: func(sh *shell, args string) error { return sh.setProgram("inferior-tty", args) }},
		{name: "unset", usage: "environment [NAME] | exec-wrapper | cwd", group: g, once: true, help: "remove a variable from the program's environment, or a setting", words: fixedWords("environment", "exec-wrapper", "cwd"), run: unset},
		{name: "cd", usage: "[DIR]", group: g, once: true, help: "change dbg's working directory, which is also the program's", run: changeDir},
		{name: "pwd", group: g, help: "print dbg's working directory", run: printDir},
		{name: "shell", aliases: []string{"!"}, usage: "[COMMAND]", group: g, once: true, help: "run a command of the shell", run: runShell},
		{name: "make", usage: "[ARGS]", group: g, once: true, help: "run make", run: func(sh *shell, args string) error { return runShell(sh, "make "+args) }},
	}
}

// useShell reports whether a shell has to start the program.
func (sh *shell) useShell(args string) bool {
	return !sh.settings.noShell && session.NeedsShell(args)
}

// startInstruction stops the program before anything of it has run.
func startInstruction(sh *shell, args string) error {
	if err := sh.restart(); err != nil {
		return err
	}
	if args != "" {
		if err := sh.setArgs(args); err != nil {
			return err
		}
	}
	if err := sh.sess.Start(); err != nil {
		return err
	}
	sh.idle()
	sh.announce("\nProgram stopped.\n")
	return sh.printHere(false)
}

// loadFile changes the program that is debugged.
func loadFile(sh *shell, args string) error {
	if args == "" {
		return userErrorf("No file name specified.")
	}
	words, err := splitWords(args)
	if err != nil || len(words) != 1 {
		return userErrorf("A single file name is expected.")
	}
	if sh.sess.State() == session.IsStopped {
		return userErrorf("A program is being debugged already; kill or detach it first.")
	}
	p := sh.sess.Program()
	p.Path = words[0]
	if err := sh.sess.Load(p); err != nil {
		return err
	}
	sh.announce("Reading symbols from %s...\n", words[0])
	return nil
}

func attachTo(sh *shell, args string) error {
	pid, err := strconv.Atoi(strings.TrimSpace(args))
	if err != nil || pid < 1 {
		return userErrorf("Illegal process-id: %s.", args)
	}
	if err := sh.sess.Attach(pid); err != nil {
		return err
	}
	sh.idle()
	if t, ok := sh.sess.Target(); ok {
		sh.announce("Attaching to program: %s, process %d\n", t.Exe, t.PID)
	}
	sh.lastThread = selectedThread(sh)
	return sh.printFrame()
}

func openCore(sh *shell, args string) error {
	words, err := splitWords(args)
	if err != nil || len(words) != 1 {
		return userErrorf("No core file specified.  (Use `detach' to stop debugging a core file.)")
	}
	exe := ""
	if sh.sess.State() == session.NotStarted {
		exe = sh.sess.Program().Path
	}
	if err := sh.sess.OpenCore(words[0], exe); err != nil {
		return err
	}
	sh.greet()
	return nil
}

// setProgram changes how the program is started next.
func (sh *shell) setProgram(what, value string) error {
	value = strings.TrimSpace(value)
	switch what {
	case "environment", "env":
		if value == "" {
			return userErrorf("Argument required (environment variable and value).")
		}
		name, v, ok := strings.Cut(value, "=")
		if !ok || strings.ContainsAny(strings.TrimSpace(name), " \t") {
			name, v = cutWord(value)
			v = strings.TrimPrefix(v, "=")
		}
		name, v = strings.TrimSpace(name), strings.TrimSpace(v)
		if v == "" {
			fmt.Fprintf(sh.out, "Setting environment variable \"%s\" to null value.\n", name)
		}
		return sh.sess.SetEnvironment(name, v, false)
	case "cwd":
		return sh.sess.SetDir(value)
	case "startup-with-shell":
		on, err := onOff(value)
		if err != nil {
			return err
		}
		sh.settings.noShell = !on
		return sh.setArgs(sh.argsLine)
	case "exec-wrapper":
		if value == "" {
			return userErrorf("Argument required (exec wrapper)")
		}
		sh.settings.wrapper = value
		return sh.setArgs(sh.argsLine)
	case "disable-randomization":
		on, err := onOff(value)
		if err != nil {
			return err
		}
		sh.settings.random = !on
		return sh.sess.SetRandomization(!on)
	case "inferior-tty":
		f, err := os.OpenFile(value, os.O_RDWR|syscall.O_NOCTTY, 0)
		if err != nil {
			return err
		}
		return sh.sess.SetTerminal(f)
	}
	return nil
}

func (sh *shell) showProgram(what string) {
	switch what {
	case "cwd":
		if dir := sh.sess.Program().Dir; dir != "" {
			fmt.Fprintf(sh.out, "Current working directory that will be used when starting the inferior is \"%s\".\n", dir)
		} else {
			fmt.Fprintln(sh.out, "You have not set the inferior's current working directory.\nThe inferior will inherit dbg's cwd if native debugging.")
		}
	case "startup-with-shell":
		fmt.Fprintf(sh.out, "Use of shell to start subprocesses is %s.\n", onOrOff(!sh.settings.noShell))
	case "exec-wrapper":
		fmt.Fprintf(sh.out, "The wrapper for running programs is \"%s\".\n", sh.settings.wrapper)
	case "disable-randomization":
		fmt.Fprintf(sh.out, "Disabling randomization of debuggee's virtual address space is %s.\n", onOrOff(!sh.settings.random))
	}
}

func (sh *shell) showEnvironment(name string) error {
	for _, e := range sh.sess.Environment() {
		if n, v, _ := strings.Cut(e, "="); name == "" {
			fmt.Fprintln(sh.out, e)
		} else if n == name {
			fmt.Fprintf(sh.out, "%s = %s\n", n, v)
			return nil
		}
	}
	if name != "" {
		fmt.Fprintf(sh.out, "Environment variable \"%s\" not defined.\n", name)
	}
	return nil
}

func unset(sh *shell, args string) error {
	what, name := cutWord(args)
	switch what {
	case "environment", "env":
		if name != "" {
			return sh.sess.SetEnvironment(name, "", true)
		}
		if !sh.ask("Delete all environment variables? (y or n) ") {
			return nil
		}
		return sh.sess.ClearEnvironment()
	case "exec-wrapper":
		sh.settings.wrapper = ""
		return sh.setArgs(sh.argsLine)
	case "cwd":
		return sh.sess.SetDir("")
	}
	return userErrorf("\"unset\" must be followed by the name of an unset subcommand.")
}

func changeDir(sh *shell, args string) error {
	dir := strings.TrimSpace(args)
	switch home, _ := os.UserHomeDir(); {
	case dir == "" || dir == "~":
		dir = home
	case strings.HasPrefix(dir, "~/"):
		dir = filepath.Join(home, dir[2:])
	}
	if err := sh.sess.MakePathAbsolute(); err != nil {
		return err
	}
	if err := os.Chdir(dir); err != nil {
		var e *os.PathError
		if errors.As(err, &e) {
			return userErrorf("%s: %v.", dir, e.Err)
		}
		return err
	}
	sh.cwd, _ = os.Getwd()
	return printDir(sh, "")
}

func printDir(sh *shell, _ string) error {
	dir, err := os.Getwd()
	if err == nil {
		fmt.Fprintf(sh.out, "Working directory %s.\n", dir)
	}
	return err
}

// runShell runs a command of the user's shell with dbg's terminal.
func runShell(sh *shell, args string) error {
	name := os.Getenv("SHELL")
	if name == "" {
		name = "/bin/sh"
	}
	c := exec.CommandContext(sh.ctx, name)
	if args != "" {
		c.Args = append(c.Args, "-c", args)
	}
	sh.out.Flush()
	sh.tty.toProgram()
	defer sh.tty.toShell()
	c.Stdin, c.Stdout, c.Stderr = sh.opts.In, sh.out.raw, sh.opts.Err
	err := c.Run()
	var status *exec.ExitError
	if errors.As(err, &status) {
		_, _ = sh.evaluate(fmt.Sprintf("$_shell_exitcode = %d", status.ExitCode()))
		return nil
	}
	_, _ = sh.evaluate("$_shell_exitcode = 0")
	return err
}
