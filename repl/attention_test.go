package repl

import (
	"context"
	"errors"
	"os"
	"testing"

	"dbg/session"
)

// TestAttend: Ctrl-C ends the command at work and what is inside of it, but not while somebody else takes it, and not the next command.
func TestAttend(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := session.New(session.Config{})
	defer s.Close()
	sh := newShell(ctx, cancel, s, Options{})
	done := sh.attend()
	outer := sh.command
	inner := sh.attend()
	giveBack := sh.takeInterrupts()
	sh.interrupts <- os.Interrupt
	<-sh.interrupts // it is the taker's
	if sh.interrupted() {
		t.Error("a Ctrl-C that somebody took ended the command")
	}
	giveBack()
	sh.interrupts <- os.Interrupt
	<-outer.Done()
	if err := sh.sess.SetArgs(nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a query of the command ended with %v", err)
	}
	inner()
	if sh.command != outer || !sh.interrupted() {
		t.Error("the command inside has ended the one around it")
	}
	done()
	defer sh.attend()()
	if err := sh.sess.SetArgs(nil); err != nil || sh.interrupted() {
		t.Errorf("the next command: %v", err)
	}
}
