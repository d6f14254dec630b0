package repl

import "context"

// attend lets Ctrl-C cancel what a command does in the session, until done is called. A command
// inside another one (in a sourced file, in "thread apply") is cancelled together with the outer
// one.
func (sh *shell) attend() (done func()) {
	if sh.command != nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(sh.ctx)
	sh.command, sh.sess = ctx, sh.base.Under(ctx)
	sh.watch(cancel)
	return func() {
		sh.unwatch()
		cancel()
		sh.command, sh.sess = nil, sh.base
	}
}

// watch makes Ctrl-C call cancel, until unwatch is called.
func (sh *shell) watch(cancel func()) {
	quit, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-sh.interrupts:
			cancel()
		case <-quit:
		}
	}()
	sh.unwatch = func() {
		close(quit)
		<-over
	}
	sh.rewatch = func() { sh.watch(cancel) }
}

// takeInterrupts lets the caller receive Ctrl-C, until giveBack is called: while the program runs,
// Ctrl-C means a pause.
func (sh *shell) takeInterrupts() (giveBack func()) {
	if sh.command == nil {
		return func() {}
	}
	sh.unwatch()
	return sh.rewatch
}

// interrupted reports whether the user pressed Ctrl-C during a command, or Run is ending.
func (sh *shell) interrupted() bool {
	return sh.ctx.Err() != nil || sh.command != nil && sh.command.Err() != nil
}
