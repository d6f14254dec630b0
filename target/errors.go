package target

import "errors"

var (
	ErrReadOnly   = errors.New("a core file can't be changed")
	ErrRunning    = errors.New("the program is running")
	ErrNotRunning = errors.New("the program is not being run")
	ErrNoThread   = errors.New("no such thread")
	ErrNoRegister = errors.New("the register's value is unknown")
	ErrNoSlot     = errors.New("all debug registers are in use")
	ErrGone       = errors.New("the process is gone")
)
