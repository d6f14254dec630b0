package syscalls

import "testing"

// The debugger interrupts a call, and the kernel executes it again: the program has begun and ended
// one call.
func TestInterruptedByUs(t *testing.T) {
	for _, second := range []int{7, restartSyscall} {
		var c Call
		if !c.Enter(7) {
			t.Fatal("the first entry begins the call")
		}
		if _, ends := c.Leave(7, true); ends {
			t.Fatal("the call is executed again")
		}
		if c.Enter(second) {
			t.Errorf("entry of %d: the program has begun the call before", second)
		}
		if n, ends := c.Leave(second, false); n != 7 || !ends {
			t.Errorf("the exit ends call %d, %v; want 7", n, ends)
		}
		if !c.Enter(7) {
			t.Error("the next call is another one")
		}
	}
}

// A signal is delivered to a thread that would execute its call again: the call ends there.
func TestInterruptedBySignal(t *testing.T) {
	var c Call
	if _, ends := c.Interrupted(); ends {
		t.Error("there was no call")
	}
	c.Enter(7)
	c.Leave(7, true)
	if n, ends := c.Interrupted(); n != 7 || !ends {
		t.Errorf("call %d, %v; want 7 to end", n, ends)
	}
	if !c.Enter(7) {
		t.Error("the next call is another one")
	}
}

// rt_sigreturn and execve change orig_rax: the number is that of the entry, if the entry was seen.
func TestNumberAtExit(t *testing.T) {
	var c Call
	c.Enter(59)
	if n, _ := c.Leave(-1, false); n != 59 {
		t.Errorf("call %d, want 59", n)
	}
	if n, _ := c.Leave(15, false); n != 15 {
		t.Errorf("call %d, want 15: its entry was not seen", n)
	}
}
