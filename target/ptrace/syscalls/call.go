package syscalls

// restartSyscall is the number of the call with which the kernel continues an interrupted call
// that has a time limit: restart_syscall(2).
const restartSyscall = 219

// Call is what is known of a thread's system call. The zero value is a thread in no call.
type Call struct {
	number int
	begun  bool // its entry was seen, and not yet its exit
	again  bool // it was interrupted, and the kernel will execute it again

	// AtEntry is set while the thread is stopped at the entry of the call. The caller clears it
	// at the thread's next stop.
	AtEntry bool
}

// Enter records a stop at the entry of call n. It returns false if the call is an interrupted one
// that the kernel executes again: the program has begun it before.
func (c *Call) Enter(n int) (begins bool) {
	again := c.again && (n == c.number || n == restartSyscall)
	c.again, c.begun = false, true
	if !again {
		c.number = n
	}
	return !again
}

// Leave records a stop at the exit of a call. n is its number by orig_rax, which rt_sigreturn and
// execve change. Leave returns the number of the call that the thread entered. It returns ends
// false if restarts is set: the kernel will execute the call again, and the program notices
// nothing.
func (c *Call) Leave(n int, restarts bool) (number int, ends bool) {
	if c.begun {
		n = c.number
	}
	c.begun = false
	if restarts {
		c.number, c.again = n, true
	}
	return n, !restarts
}

// Interrupted records that a signal is delivered to the thread. If it was to execute a call again,
// the call ends here, without another stop.
func (c *Call) Interrupted() (number int, ends bool) {
	ends = c.again
	c.again = false
	return c.number, ends
}
