package repl

import "context"

// attend makes Ctrl-C end what a command asks of the session, until the function that it returns is called. A command
// inside another one (of a file that is read, of "thread apply") ends with that one.
func (sh *shell) attend() (done func()) {
	if sh.command != nil {
		return func() {}
	}
	whole := sh.sess
	ctx, cancel := context.WithCancel(sh.ctx)
	sh.command, sh.sess = ctx, whole.Under(ctx)
	sh.watch(cancel)
	return func() {
		sh.unwatch()
		cancel()
		sh.command, sh.sess = nil, whole
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

// takeInterrupts gives Ctrl-C to the caller until the function that it returns is called: while the program runs it means
// a pause.
func (sh *shell) takeInterrupts() (giveBack func()) {
	if sh.command == nil {
		return func() {}
	}
	sh.unwatch()
	return sh.rewatch
}

// interrupted reports whether the user pressed Ctrl-C during a command, or all is over.
func (sh *shell) interrupted() bool {
	return sh.ctx.Err() != nil || sh.command != nil && sh.command.Err() != nil
}
