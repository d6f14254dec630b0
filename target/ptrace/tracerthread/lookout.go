package tracerthread

import (
	"time"

	"golang.org/x/sys/unix"

	"dbg/target/ptrace/kernel"
)

// patience is how long the tracer stays awake after the last status.
const patience = 100 * time.Microsecond

// manyTracees is the number of tracees above which wait4(-1), which examines all of them, is
// called only once in eachLooks polls.
const (
	manyTracees = 16
	eachLooks   = 8
)

// Lookout is the state of a tracer that stays awake for the next status. To sleep and to be woken
// costs several times more than to poll if the tracee is on another core. The zero value has just
// been started. It is used on the tracer's thread only.
type Lookout struct {
	looks int
	last  time.Time // of the last status
}

// Poll polls for a status of the thread hot, which is 0 if there is none, and now and then for
// those of others; between polls it yields the processor, possibly to the thread itself. It returns
// tid 0 if it found none: then awake is false if the tracer must sleep again, and true if it shall
// look for commands and call Poll again. tracees is the number of tracees.
func (l *Lookout) Poll(hot, tracees int) (tid int, ws unix.WaitStatus, awake bool) {
	if l.last.IsZero() {
		l.last = time.Now()
	}
	for {
		l.looks++
		if hot != 0 {
			if ws, ok := kernel.Take(hot); ok {
				l.last = time.Now()
				return hot, ws, true
			}
		}
		if tracees < manyTracees || l.looks%eachLooks == 0 {
			if tid, ws := kernel.Poll(); tid > 0 {
				l.last = time.Now()
				return tid, ws, true
			}
		}
		if time.Since(l.last) > patience {
			l.last = time.Time{}
			return 0, 0, false
		}
		kernel.Yield()
		if l.looks%eachLooks == 0 {
			return 0, 0, true // commands may wait
		}
	}
}
