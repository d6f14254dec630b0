package repl

import (
	"fmt"
	"strings"

	"dbg/session"
	"dbg/target"
)

// origin is the frame in which a step began.
type origin struct {
	cfa      target.Addr
	function string
	known    bool
}

func (sh *shell) here() origin {
	f, err := sh.sess.SelectedFrame()
	if err != nil {
		return origin{}
	}
	return origin{cfa: f.Machine.CFA, function: f.FunctionName, known: true}
}

// goAndWait makes the program go by what start does, and returns when it has
// stopped or is no more. from is where a step began; nil if it is none.
func (sh *shell) goAndWait(start func() error, from *origin) error {
	sh.drainInterrupts()
	sh.out.Flush()
	sh.tty.toProgram()
	defer sh.tty.toShell()
	if err := start(); err != nil {
		return err
	}
	running := false
	for {
		select {
		case <-sh.ctx.Done():
			return sh.ctx.Err()
		case <-sh.interrupts:
			// The stop that follows says what happened; a program that stopped by itself
			// just now needs no more.
			_ = sh.sess.Pause()
		case ev, ok := <-sh.events:
			if !ok {
				return session.ErrClosed
			}
			switch ev := ev.(type) {
			case session.Resumed:
				running = true
				continue
			case session.Stopped:
				if running {
					sh.tty.toShell()
					return sh.stopped(ev.Stop, from)
				}
				continue
			case session.Ended:
				if running {
					sh.tty.toShell()
					sh.ended(ev)
					return nil
				}
				continue
			}
			sh.passing(ev)
			sh.out.Flush()
		}
	}
}

// waitEnded takes the events up to the end of the process that a command caused.
func (sh *shell) waitEnded() (session.Ended, error) {
	for {
		select {
		case <-sh.ctx.Done():
			return session.Ended{}, sh.ctx.Err()
		case ev, ok := <-sh.events:
			if !ok {
				return session.Ended{}, session.ErrClosed
			}
			if e, ok := ev.(session.Ended); ok {
				return e, nil
			}
		}
	}
}

// idle prints what happened while the program was not let go by us: another face
// of the session, or somebody who killed the program.
func (sh *shell) idle() {
	for {
		select {
		case ev, ok := <-sh.events:
			if !ok {
				sh.events = nil
				return
			}
			switch ev := ev.(type) {
			case session.Stopped:
				sh.report(sh.stopped(ev.Stop, nil))
			case session.Ended:
				sh.ended(ev)
			default:
				sh.passing(ev)
			}
		default:
			sh.out.Flush()
			return
		}
	}
}

// passing prints events that are no stop.
func (sh *shell) passing(ev session.Event) {
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
		fmt.Fprintln(sh.out, strings.TrimSuffix(ev.Text, "\n"))
	case session.Output:
		sh.out.Write(ev.Data)
	case session.Fetching:
		sh.fetching(ev)
	}
}
