package ptrace

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminal hands the terminal to the program and back: tcsetpgrp(3).
type terminal struct {
	of    *os.File
	given bool
}

// give makes the program's process group the foreground one.
func (t *terminal) give(group int) {
	if t.of != nil && !t.given {
		t.given = t.set(group) == nil
	}
}

// takeBack makes ours the foreground one.
func (t *terminal) takeBack() {
	if t.of != nil && t.given {
		t.given = false
		_ = t.set(unix.Getpgrp())
	}
}

// set may be called from the background, for which the kernel would send
// SIGTTOU unless that is blocked. It is blocked for this thread and this call
// only, as the programs that we start inherit the mask.
func (t *terminal) set(group int) error {
	var block, old unix.Sigset_t
	block.Val[0] = 1 << (unix.SIGTTOU - 1)
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &block, &old); err != nil {
		return err
	}
	err := unix.IoctlSetPointerInt(int(t.of.Fd()), unix.TIOCSPGRP, group)
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil)
	return err
}
