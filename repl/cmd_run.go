package repl

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"dbg/session"
	"dbg/target"
)

func runCommands() []*command {
	const g = "running"
	return []*command{
		{name: "run", aliases: []string{"r"}, usage: "[ARGS]", group: g, once: true, help: "start the program from the beginning", run: runProgram},
		{name: "start", usage: "[ARGS]", group: g, once: true, help: "start the program and stop in main", run: startProgram},
		{name: "continue", aliases: []string{"c", "fg"}, usage: "[N]", group: g, help: "continue the program; with N: ignore this breakpoint N-1 times", run: continueProgram},
		{name: "next", aliases: []string{"n"}, usage: "[N]", group: g, help: "step to another line, over calls", run: step(session.StepOver)},
		{name: "step", aliases: []string{"s"}, usage: "[N]", group: g, help: "step to another line, into calls", run: step(session.StepInto)},
		{name: "step-target", usage: "[N]", group: g, once: true, help: "list the calls of this line; with N: step into the N-th one", run: stepTarget},
		{name: "finish", aliases: []string{"fin"}, group: g, help: "run until the selected frame returns", run: finish},
		{name: "nexti", aliases: []string{"ni"}, usage: "[N]", group: g, help: "step one instruction, over calls", run: step(session.NextInstruction)},
		{name: "stepi", aliases: []string{"si"}, usage: "[N]", group: g, help: "step one instruction, into calls", run: step(session.StepInstruction)},
		{name: "until", aliases: []string{"u"}, usage: "[LOCATION]", group: g, help: "run until a location, or until the frame returns", words: functionWords, run: until},
		{name: "advance", usage: "LOCATION", group: g, help: "run until a location, or until the frame returns", words: functionWords, run: advance},
		{name: "signal", usage: "SIGNAL", group: g, once: true, help: "continue the program with a signal; 0: without one", words: signalWords, run: signalProgram},
		{name: "queue-signal", usage: "SIGNAL", group: g, once: true, help: "deliver a signal when the program continues; 0: none", words: signalWords, run: queueSignal},
		{name: "kill", aliases: []string{"k"}, group: g, once: true, help: "end the program", run: kill},
		{name: "detach", group: g, once: true, help: "release the program, which continues without dbg", run: detach},
	}
}

var errNotRun = userErrorf("The program is not being run.")

// live returns an error if there is no stopped process.
func (sh *shell) live() error {
	if sh.sess.State() != session.IsStopped {
		return errNotRun
	}
	return nil
}

// restart asks whether to end a program that has already been started.
func (sh *shell) restart() error {
	if sh.sess.State() != session.IsStopped {
		return nil
	}
	if !sh.ask("The program being debugged has been started already.\nStart it from the beginning? (y or n) ") {
		return userErrorf("Program not restarted.")
	}
	return nil
}

func (sh *shell) launch(args string) error {
	if args != "" {
		if err := sh.setArgs(args); err != nil {
			return err
		}
	}
	p := sh.sess.Program()
	words := joinWords(p.Args)
	if sh.useShell(sh.argsLine) {
		words = sh.argsLine
	}
	sh.announce("Starting program: %s %s\n", p.Path, words)
	sh.lastThread = 0
	return sh.resumeAndWait(sh.sess.Run)
}

func runProgram(sh *shell, args string) error {
	if sh.sess.State() == session.IsCore {
		return errors.New("a core file is open; it can be examined, but not run")
	}
	if sh.sess.State() == session.NoProgram {
		return userErrorf("No executable file specified.\nUse the \"file\" or \"exec-file\" command.")
	}
	if err := sh.restart(); err != nil {
		return err
	}
	return sh.launch(args)
}

func startProgram(sh *shell, args string) error {
	if err := sh.restart(); err != nil {
		return err
	}
	b, err := sh.sess.StopInMain()
	if err != nil {
		return err
	}
	sh.printSet(b)
	return sh.launch(args)
}

func continueProgram(sh *shell, args string) error {
	if err := sh.live(); err != nil {
		return err
	}
	n, err := count(args)
	if err != nil {
		return err
	}
	if n > 1 {
		ids := sh.sess.IgnoreHere(n - 1)
		for _, id := range ids {
			sh.printIgnored(id, n-1)
		}
		if len(ids) == 0 {
			fmt.Fprintln(sh.out, "Not stopped at any breakpoint; argument ignored.")
		}
	}
	sh.announce("Continuing.\n")
	signal := sh.queuedSignal()
	return sh.resumeAndWait(func() error { return sh.sess.Continue(signal) })
}

func step(kind session.StepKind) func(*shell, string) error {
	return func(sh *shell, args string) error {
		if err := sh.live(); err != nil {
			return err
		}
		n, err := count(args)
		if err != nil {
			return err
		}
		if n < 1 {
			return nil
		}
		return sh.resumeAndWait(func() error { return sh.sess.Step(kind, n) })
	}
}

func finish(sh *shell, args string) error {
	if err := sh.live(); err != nil {
		return err
	}
	_, level := sh.sess.Selected()
	if _, err := sh.sess.Frame(selectedThread(sh), level+1); err != nil {
		return userErrorf("\"finish\" not meaningful in the outermost frame.")
	}
	v, err := sh.selectedView(false)
	if err != nil {
		return err
	}
	sh.announce("Run till exit from %s\n", sh.names().level(&v))
	return sh.resumeAndWait(func() error { return sh.sess.Step(session.StepOut, 1) })
}

func selectedThread(sh *shell) target.ThreadID {
	t, _ := sh.sess.Selected()
	return t
}

func until(sh *shell, args string) error {
	if args == "" {
		return step(session.StepUntil)(sh, "")
	}
	return advance(sh, args)
}

func advance(sh *shell, args string) error {
	if err := sh.live(); err != nil {
		return err
	}
	if args == "" {
		return userErrorf("Argument required (a location).")
	}
	spec, err := sh.sess.ParseLocation(args)
	if err != nil {
		return err
	}
	return sh.resumeAndWait(func() error { return sh.sess.Advance(spec) })
}

func signalProgram(sh *shell, args string) error {
	if err := sh.live(); err != nil {
		return err
	}
	if args == "" {
		return userErrorf("Argument required (signal number).")
	}
	n := -1
	if args != "0" {
		if n = target.SignalByName(strings.ToUpper(args)); n == 0 {
			return fmt.Errorf("no signal %q", args)
		}
		sh.announce("Continuing with signal %s.\n", target.SignalName(n))
	} else {
		sh.announce("Continuing with no signal.\n")
	}
	return sh.resumeAndWait(func() error { return sh.sess.Continue(n) })
}

// queueSignal chooses the signal that the selected thread gets when the program continues.
func queueSignal(sh *shell, args string) error {
	if err := sh.live(); err != nil {
		return err
	}
	if args == "" {
		return userErrorf("Argument required (signal number).")
	}
	n := -1
	if args != "0" {
		if n = target.SignalByName(strings.ToUpper(args)); n == 0 {
			return fmt.Errorf("no signal %q", args)
		}
	}
	sh.queued, sh.queuedAt = n, sh.stops
	return nil
}

// queuedSignal returns the signal of queue-signal, if the program has not moved since.
func (sh *shell) queuedSignal() int {
	if sh.queuedAt != sh.stops {
		return 0
	}
	n := sh.queued
	sh.queued = 0
	return n
}

func kill(sh *shell, args string) error {
	if handled, err := sh.onInferiors(args, kill); handled {
		return err
	}
	if err := sh.live(); err != nil {
		return err
	}
	if !sh.ask("Kill the program being debugged? (y or n) ") {
		return nil
	}
	if err := sh.sess.Kill(); err != nil {
		return err
	}
	e, err := sh.waitEnded()
	if err != nil {
		return err
	}
	sh.lastThread = 0
	for _, c := range sh.sess.Checkpoints() {
		if err := sh.sess.DeleteCheckpoint(c.Number, false); err != nil {
			return err
		}
	}
	fmt.Fprintf(sh.out, "[Inferior %d (process %d) killed]\n", sh.sess.Number(), e.PID)
	return nil
}

func detach(sh *shell, args string) error {
	if handled, err := sh.onInferiors(args, detach); handled {
		return err
	}
	if handled, err := sh.onCheckpoints(args, true); handled {
		return err
	}
	if err := sh.live(); err != nil {
		return err
	}
	t, _ := sh.sess.Target()
	sh.announce("Detaching from program: %s, process %d\n", t.Exe, t.PID)
	if err := sh.sess.Detach(); err != nil {
		return err
	}
	e, err := sh.waitEnded()
	if err != nil {
		return err
	}
	sh.ended(e)
	return nil
}

// stepTarget lists the calls of the current line, or steps into one of them.
func stepTarget(sh *shell, args string) error {
	if err := sh.live(); err != nil {
		return err
	}
	t, _ := sh.sess.Selected()
	if args != "" {
		n, err := strconv.Atoi(args)
		if err != nil {
			return fmt.Errorf("step-target takes the number of a call, not %q", args)
		}
		return sh.resumeAndWait(func() error { return sh.sess.StepIntoTarget(t, n) })
	}
	list, err := sh.sess.StepTargets(t)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintln(sh.out, "No calls on this line.")
	}
	for _, k := range list {
		fmt.Fprintf(sh.out, "%-3d %s\n", k.ID, k.Name)
	}
	return nil
}
