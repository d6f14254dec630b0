package repl

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"dbg/session"
	"dbg/target"
)

// resumeAndWait resumes the program with start, and returns when the program has stopped or ended.
func (sh *shell) resumeAndWait(start func() error) error {
	defer sh.takeInterrupts()()
	sh.drainInterrupts()
	sh.out.Flush()
	sh.tty.toProgram()
	defer sh.tty.toShell()
	if err := start(); err != nil {
		if ev, ok := sh.diedBefore(err); ok {
			sh.tty.toShell()
			sh.ended(ev)
			return nil
		}
		return err
	}
	running := false
	for {
		select {
		case <-sh.ctx.Done():
			return sh.ctx.Err()
		case <-sh.interrupts:
			// The following stop reports what happened. If the program has just stopped by itself,
			// nothing more is needed.
			_ = sh.sess.Pause()
		case ev, ok := <-sh.events:
			if !ok {
				return session.ErrClosed
			}
			from, ev := nextEvent(ev)
			if from.Number() != sh.sess.Number() {
				if stopped, ok := ev.(session.Stopped); sh.elsewhere(from, ev) && ok {
					sh.tty.toShell()
					return sh.stopped(stopped.Stop)
				}
				sh.out.Flush()
				continue
			}
			switch ev := ev.(type) {
			case session.Resumed:
				running = true
				continue
			case session.Forked:
				sh.forked(ev)
				if ev.Followed {
					sh.turnTo(ev.Session)
				}
				sh.out.Flush()
				continue
			case session.Stopped:
				if running && ev.Reason != session.StopTogether && ev.Reason != session.StopFork {
					sh.tty.toShell()
					return sh.stopped(ev.Stop)
				}
				continue
			case session.Ended:
				if running {
					sh.tty.toShell()
				}
				sh.ended(ev)
				if o := sh.othersRun(); running && o != nil {
					sh.turnTo(o)
					continue
				}
				if running {
					return nil
				}
				continue // of the previous process
			}
			sh.printEvent(ev)
			sh.out.Flush()
		}
	}
}

// Time limits for the report of a program's end, after an operation has failed because of it.
const (
	surelyDead   = 5 * time.Second
	perhapsDying = 100 * time.Millisecond
)

// diedBefore reports whether the program could not be resumed because it was killed: then the user
// must see its end. It takes the events of the attempt.
func (sh *shell) diedBefore(err error) (session.Ended, bool) {
	patience := perhapsDying
	if errors.Is(err, target.ErrGone) || errors.Is(err, target.ErrNoThread) {
		patience = surelyDead
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case <-sh.ctx.Done():
			return session.Ended{}, false
		case <-timer.C:
			return session.Ended{}, false
		case ev, ok := <-sh.events:
			if !ok {
				return session.Ended{}, false
			}
			from, ev := nextEvent(ev)
			if from.Number() != sh.sess.Number() {
				sh.elsewhere(from, ev)
				continue
			}
			switch ev := ev.(type) {
			case session.Resumed, session.Stopped: // of the attempt
			case session.Ended:
				return ev, true
			default:
				sh.printEvent(ev)
			}
		}
	}
}

// waitEnded takes events until the end of the process, which a command has caused.
func (sh *shell) waitEnded() (session.Ended, error) {
	for {
		select {
		case <-sh.ctx.Done():
			return session.Ended{}, sh.ctx.Err()
		case ev, ok := <-sh.events:
			if !ok {
				return session.Ended{}, session.ErrClosed
			}
			from, ev := nextEvent(ev)
			if e, ok := ev.(session.Ended); ok && from.Number() == sh.sess.Number() {
				return e, nil
			}
		}
	}
}

// idle prints the events since the last command: another front end may have used the session, or
// the program may have been killed.
func (sh *shell) idle() {
	defer sh.out.Flush()
	mark := sh.sess.Mark()
	for sh.events != nil {
		select {
		case <-sh.ctx.Done():
			return
		case ev, ok := <-sh.events:
			if !ok {
				sh.events = nil
				return
			}
			from, ev := nextEvent(ev)
			if m, ok := ev.(session.Mark); ok {
				if from.Number() == sh.sess.Number() && m.N == mark {
					return
				}
				continue
			}
			if from.Number() != sh.sess.Number() {
				if stopped, ok := ev.(session.Stopped); ok && sh.elsewhere(from, ev) {
					sh.report(sh.stopped(stopped.Stop))
					mark = sh.sess.Mark()
				} else if !ok {
					sh.elsewhere(from, ev)
				}
				continue
			}
			switch ev := ev.(type) {
			case session.Forked:
				sh.forked(ev)
				if ev.Followed {
					sh.turnTo(ev.Session)
					mark = sh.sess.Mark()
				}
			case session.Stopped:
				if ev.Reason == session.StopTogether || ev.Reason == session.StopFork {
					continue
				}
				sh.report(sh.stopped(ev.Stop))
			case session.Ended:
				sh.ended(ev)
			default:
				sh.printEvent(ev)
			}
		}
	}
}

// printEvent prints the events that are not a stop.
func (sh *shell) printEvent(ev session.Event) {
	switch ev := ev.(type) {
	case session.ThreadStarted:
		if t, ok := sh.sess.Target(); ok && int(ev.Thread) != t.PID {
			fmt.Fprintf(sh.out, "[New LWP %d]\n", ev.Thread)
		}
	case session.ThreadExited:
		if t, ok := sh.sess.Target(); ok && int(ev.Thread) != t.PID {
			fmt.Fprintf(sh.out, "[LWP %d exited]\n", ev.Thread)
		}
	case session.LogMessage:
		if ev.Warning {
			sh.out.Flush()
			fmt.Fprintf(sh.err, "warning: %s\n", ev.Text)
			return
		}
		if ev.Plain {
			fmt.Fprint(sh.out, ev.Text)
			return
		}
		fmt.Fprintln(sh.out, strings.TrimSuffix(ev.Text, "\n"))
	case session.Output:
		sh.out.raw.Write(ev.Data)
	case session.Fetching:
		sh.fetching(ev)
	}
}
