package repl

import (
	"fmt"
	"strconv"
	"strings"

	"dbg/session"
)

// The sessions of a group are gdb's inferiors. The shell works on one of them, sh.sess; base is its
// handle without the current command's context.

// several reports whether threads are named with the number of their inferior: "2.1".
func (sh *shell) several() bool { return len(sh.sess.Group()) > 1 || sh.sess.Number() != 1 }

// threadID returns the number of a thread of the current inferior, as users write it.
func (sh *shell) threadID(n int) string {
	if sh.several() {
		return fmt.Sprintf("%d.%d", sh.sess.Number(), n)
	}
	return strconv.Itoa(n)
}

// turnTo makes an inferior the current one.
func (sh *shell) turnTo(s *session.Session) {
	if s.Number() == sh.sess.Number() {
		return
	}
	old := sh.base
	sh.base, sh.sess = s, s
	if sh.command != nil {
		sh.sess = s.Under(sh.command)
	}
	sh.lastThread, _ = s.Selected()
	sh.list.reset()
	sh.dropEnded(old)
}

// inferiorByID returns the inferior with a number.
func (sh *shell) inferiorByID(text string) (*session.Session, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil, userErrorf("Invalid number \"%s\".", text)
	}
	for _, s := range sh.sess.Group() {
		if s.Number() == n {
			return s, nil
		}
	}
	return nil, userErrorf("Inferior ID %d not known.", n)
}

// dropEnded removes a child's inferior that has ended, if it is not the current one.
func (sh *shell) dropEnded(s *session.Session) {
	if s.Number() == sh.sess.Number() || !s.Forked() {
		return
	}
	if st := s.State(); st == session.NotStarted || st == session.NoProgram {
		s.Close()
	}
}

// nextEvent unwraps an event of the group.
func nextEvent(ev session.Event) (from *session.Session, _ session.Event) {
	f := ev.(session.From)
	return f.Session, f.Event
}

// elsewhere handles an event of an inferior that is not the current one. It returns true if that
// inferior has stopped for the user: it is the current one now.
func (sh *shell) elsewhere(from *session.Session, ev session.Event) (stopped bool) {
	switch ev := ev.(type) {
	case session.Stopped:
		if ev.Reason == session.StopTogether || ev.Reason == session.StopFork {
			return false
		}
		sh.turnTo(from)
		return true
	case session.Ended:
		sh.endedAs(from.Number(), ev)
		sh.dropEnded(from)
	case session.Forked:
		sh.forked(ev)
	case session.LogMessage:
		sh.printEvent(ev)
	case session.Output:
		sh.printEvent(ev)
	}
	return false
}

// forked prints what happens to a child.
func (sh *shell) forked(ev session.Forked) {
	word := "fork"
	if ev.Vfork {
		word = "vfork"
	}
	if ev.Session == nil {
		fmt.Fprintf(sh.out, "[Detaching after %s from child process %d]\n", word, ev.Child)
		return
	}
	if ev.Followed {
		fmt.Fprintf(sh.out, "[Attaching after process %d %s to child process %d]\n", ev.Parent, word, ev.Child)
	}
	fmt.Fprintf(sh.out, "[New inferior %d (process %d)]\n", ev.Session.Number(), ev.Child)
	if ev.Followed && ev.Detached {
		fmt.Fprintf(sh.out, "[Detaching after %s from parent process %d]\n", word, ev.Parent)
	}
}

// othersRun reports whether another inferior is running.
func (sh *shell) othersRun() *session.Session {
	for _, s := range sh.sess.Group() {
		if s.Number() != sh.sess.Number() && s.State() == session.IsRunning {
			return s
		}
	}
	return nil
}

// setFollowing changes one of the settings for children.
func (sh *shell) setFollowing(name, value string) error {
	f := sh.sess.Following()
	value = strings.TrimSpace(value)
	choice := func(off, on string) (bool, error) {
		switch value {
		case off:
			return false, nil
		case on:
			return true, nil
		case "":
			return false, userErrorf("Requires an argument. Valid arguments are %s, %s.", off, on)
		}
		return false, userErrorf("Undefined item: \"%s\".", value)
	}
	var err error
	switch name {
	case "follow-fork-mode":
		f.Child, err = choice("parent", "child")
	case "follow-exec-mode":
		f.NewAtExec, err = choice("same", "new")
	case "detach-on-fork":
		f.KeepBoth, err = onOff(value)
		f.KeepBoth = !f.KeepBoth
	case "schedule-multiple":
		f.Together, err = onOff(value)
	}
	if err != nil {
		return err
	}
	return sh.sess.SetFollowing(f)
}

// showFollowing prints one of the settings for children.
func (sh *shell) showFollowing(name string) {
	f := sh.sess.Following()
	either := func(b bool, on, off string) string {
		if b {
			return on
		}
		return off
	}
	switch name {
	case "follow-fork-mode":
		fmt.Fprintf(sh.out, "Debugger response to a program call of fork or vfork is \"%s\".\n", either(f.Child, "child", "parent"))
	case "follow-exec-mode":
		fmt.Fprintf(sh.out, "Follow exec mode is \"%s\".\n", either(f.NewAtExec, "new", "same"))
	case "detach-on-fork":
		fmt.Fprintf(sh.out, "Whether gdb will detach the child of a fork is %s.\n", onOrOff(!f.KeepBoth))
	case "schedule-multiple":
		fmt.Fprintf(sh.out, "Resuming the execution of threads of all processes is %s.\n", onOrOff(f.Together))
	}
}
