package repl

import (
	"fmt"

	"dbg/session"
)

// callCommands are those that make the program do what it would not do by itself.
func callCommands() []*command {
	const g = "running"
	return []*command{
		{name: "return", usage: "[EXPR]", group: g, once: true, help: "make the selected frame return at once, with the value of EXPR", run: returnFrame},
		{name: "jump", aliases: []string{"j"}, usage: "LOCATION", group: g, once: true, help: "go on at another place", words: functionWords, run: jump},
	}
}

var errNoProcess = userErrorf("You can't do that without a process to debug.")

func returnFrame(sh *shell, args string) error {
	if sh.sess.State() != session.IsStopped {
		return errNoProcess
	}
	f, err := sh.sess.SelectedFrame()
	if err != nil {
		return err
	}
	if !f.Inlined {
		question := "Make selected stack frame return now? (y or n) "
		if f.FunctionName != "" {
			question = fmt.Sprintf("Make %s return now? (y or n) ", f.FunctionName)
		}
		if !sh.ask(question) {
			return userErrorf("Not confirmed")
		}
	}
	if err := sh.sess.Return(args); err != nil {
		return err
	}
	return sh.printFrame()
}

func jump(sh *shell, args string) error {
	if sh.sess.State() != session.IsStopped {
		return errNotRun
	}
	if args == "" {
		return userErrorf("Argument required (starting address).")
	}
	spec, err := sh.sess.ParseLocation(args)
	if err != nil {
		return err
	}
	place, leaves, err := sh.sess.JumpTarget(spec)
	if err != nil {
		return err
	}
	if leaves != "" && !sh.ask(fmt.Sprintf("Line %d is not in `%s'.  Jump anyway? (y or n) ", place.Position.Line, leaves)) {
		return userErrorf("Not confirmed.")
	}
	sh.announce("Continuing at 0x%x.\n", uint64(place.Addr))
	return sh.resumeAndWait(func() error { return sh.sess.Jump(place.Addr) })
}
