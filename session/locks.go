package session

import (
	"slices"

	"dbg/target"
)

// Locks describes which thread waits for which.
type Locks struct {
	Waits []Wait // of all threads that wait, by number
	// Deadlocks lists the cycles: each thread of one waits for something that the next one holds,
	// and the last for something that the first holds. Waits that end by themselves do not count. A
	// cycle is certain unless one of its waits is Probable.
	Deadlocks [][]Wait
	// Stuck is set if all threads wait for locks and for the ends of threads, which none of them can
	// bring about any more: a deadlock, whoever holds the locks.
	Stuck bool

	// Goroutines has those of a program of Go that wait, by number.
	Goroutines []GoWait
	// GoDeadlocks lists the cycles of goroutines. All of them are probable.
	GoDeadlocks [][]GoWait
	// GoStuck is set if all goroutines wait for locks and channels, and nothing else can wake one.
	GoStuck bool
}

// Locks draws the graph of the waits of all threads and finds its cycles.
func (s *Session) Locks() (Locks, error) {
	return ask(s, func() (Locks, error) {
		list, err := s.waits()
		if err != nil {
			return Locks{}, err
		}
		var out Locks
		for _, w := range list {
			if w.Kind != NotWaiting {
				out.Waits = append(out.Waits, w)
			}
		}
		out.Deadlocks = cycles(out.Waits)
		out.Stuck = stuck(list)
		out.Goroutines, out.GoStuck = s.goWaits()
		out.GoDeadlocks = goCycles(out.Goroutines)
		return out, nil
	})
}

// stuck reports whether only threads of this process can end the waits, and all of them wait.
func stuck(all []Wait) bool {
	locks := false
	for i := range all {
		w := &all[i]
		if w.Timed || w.Call == nil || w.Call.Returned {
			return false
		}
		switch w.Kind {
		case WaitMutex, WaitReadLock, WaitWriteLock, WaitRustMutex, WaitRustRwLock:
			const private = 0x80 // other processes do not use the lock
			if w.Call.Number != sysFutex || w.Call.args[1]&private == 0 {
				return false
			}
			locks = true
		case WaitThread:
		default:
			return false
		}
	}
	return locks
}

// next returns the thread that has to move before the wait can end; 0: unknown, or the wait ends by
// itself.
func (w *Wait) next() target.ThreadID {
	switch {
	case w.Timed:
		return 0
	case w.Kind == WaitChild:
		return w.ChildHolder
	}
	return w.Holder
}

// cycles finds the cycles of a graph in which each thread waits for at most one other. Each cycle
// begins with its thread of the lowest number.
func cycles(waits []Wait) (out [][]Wait) {
	index := make(map[target.ThreadID]int, len(waits))
	for i := range waits {
		index[waits[i].Thread.ID] = i
	}
	walk := make([]int, len(waits)) // the walk on which a thread was met first
	for i := range waits {
		at, ok := i, true
		for ok && walk[at] == 0 {
			walk[at] = i + 1
			at, ok = step(waits, index, at)
		}
		if !ok || walk[at] != i+1 {
			continue // it ends, or runs into an older walk
		}
		cycle := []Wait{waits[at]}
		for n, _ := step(waits, index, at); n != at; n, _ = step(waits, index, n) {
			cycle = append(cycle, waits[n])
		}
		out = append(out, fromLowest(cycle))
	}
	return out
}

func step(waits []Wait, index map[target.ThreadID]int, at int) (int, bool) {
	id := waits[at].next()
	if id == 0 {
		return 0, false
	}
	n, ok := index[id]
	return n, ok
}

// fromLowest rotates a cycle.
func fromLowest(cycle []Wait) []Wait {
	least := 0
	for i := range cycle {
		if cycle[i].Thread.Number < cycle[least].Thread.Number {
			least = i
		}
	}
	return slices.Concat(cycle[least:], cycle[:least])
}
