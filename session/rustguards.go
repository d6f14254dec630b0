package session

import (
	"encoding/binary"
	"strings"

	"dbg/eval"
	"dbg/symbols/lang"
	"dbg/symbols/types"
	"dbg/target"
)

// A Mutex of Rust does not record who holds it. But a holder has a MutexGuard, mostly in a local
// variable, which refers to the Mutex. A guard that was moved or dropped leaves such a variable
// behind, so a holder that is found this way is probable and not certain.

// rustGuard is a guard in a local variable of a thread.
type rustGuard struct {
	thread target.ThreadID
	lo, hi target.Addr // of the Mutex
}

// The limits of the search for guards.
const (
	mostGuardFrames  = 200
	mostGuardThreads = 1000
)

// rustHolder returns the only thread that has a guard of the Mutex with a futex, or 0.
func (o *owners) rustHolder(word target.Addr, waits target.ThreadID) (holder target.ThreadID) {
	if !o.guarded {
		o.guarded = true
		for i, t := range o.s.threads.all {
			if i == mostGuardThreads || o.s.cutShort() {
				return 0
			}
			o.findGuards(t.ID)
		}
	}
	if v, ok := o.word(word); !ok || v == 0 {
		return 0 // it is not locked
	}
	for _, g := range o.guards {
		if word < g.lo || word >= g.hi {
			continue
		}
		if holder != 0 && holder != g.thread {
			return 0
		}
		holder = g.thread
	}
	if holder == waits {
		return 0 // it may be what the call will return
	}
	return holder
}

// findGuards collects the guards in a thread's local variables.
func (o *owners) findGuards(t target.ThreadID) {
	for level := range mostGuardFrames {
		f, err := o.s.frame(t, level)
		if err != nil {
			return
		}
		if f.Function == nil || f.Function.Lang != lang.Rust {
			continue
		}
		e := o.s.env(t, level)
		for _, v := range e.variables() {
			if v.Type == nil || !isGuard(v.Type) {
				continue
			}
			if g, ok := readGuard(e, v.Name); ok {
				g.thread = t
				o.guards = append(o.guards, g)
			}
		}
	}
}

// isGuard reports whether a type is std::sync::MutexGuard, which has moved between modules.
func isGuard(t *types.Type) bool {
	name := t.Strip().Name
	return (strings.HasPrefix(name, "MutexGuard<") || strings.Contains(name, "::MutexGuard<")) && !strings.HasPrefix(name, "&")
}

// readGuard reads to which Mutex a guard refers.
func readGuard(e *env, name string) (g rustGuard, ok bool) {
	v, err := eval.Evaluate(name+".lock", e)
	if err != nil || v.Type == nil {
		return g, false
	}
	elem := v.Type.Strip().Elem()
	v = eval.Fetch(v, e)
	if elem == nil || elem.Size <= 0 || len(v.Bytes) != 8 {
		return g, false
	}
	g.lo = target.Addr(binary.LittleEndian.Uint64(v.Bytes))
	g.hi = g.lo + target.Addr(elem.Size)
	return g, true
}
