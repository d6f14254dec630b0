package ptrace

import (
	"time"

	"dbg/target/ptrace/kernel"
)

// A thread that has just passed a site often hits one again soon. To sleep and to be woken costs
// several times more than the hit itself if the thread is on another core. So the tracer stays
// awake for a moment: it yields the processor to others, possibly to the thread itself, and
// polls.

// patience is how long the tracer stays awake after the last status.
const patience = 100 * time.Microsecond

// manyTracees is the number of tracees above which wait4(-1), which examines all of them, is
// called only once in eachLooks polls.
const (
	manyTracees = 16
	eachLooks   = 8
)

// lookout is the state of a tracer that stays awake.
type lookout struct {
	looks int
	last  time.Time // of the last status
}

// stayAwake polls for a status of the hot thread, and now and then for those of others. It
// returns false when the tracer must sleep again.
func (p *Process) stayAwake() bool {
	l := &p.lookout
	if l.last.IsZero() {
		l.last = time.Now()
	}
	for {
		l.looks++
		if p.hot != 0 {
			if ws, ok := kernel.Take(p.hot); ok {
				tid := p.hot
				l.last = time.Now()
				p.takeStatus(tid, ws)
				return p.running && !p.over
			}
		}
		if len(p.threads) < manyTracees || l.looks%eachLooks == 0 {
			if tid, ws := kernel.Poll(); tid > 0 {
				l.last = time.Now()
				p.tracer.dispatch(tid, ws)
				return p.running && !p.over
			}
		}
		if time.Since(l.last) > patience {
			l.last = time.Time{}
			return false
		}
		kernel.Yield()
		if l.looks%eachLooks == 0 {
			return true // commands may wait
		}
	}
}
