package follow

import (
	"dbg/code/flow"
)

// jumpState is the state of the analysis of a function's jumps through tables.
type jumpState uint8

const (
	jumpsAlike  jumpState = iota // all jumps so far have the same frame
	jumpsUnlike                  // the jumps have different frames, or allow no conclusion
)

// tableOrTail handles a jump to an unknown target; f.at is after it.
//
// If the frame is that of the function's first instruction, the jump is a tail call, unless the
// function has no other frame anywhere. Otherwise its targets are most likely in a table. The first
// one often follows the jump.
func (f *forward) tableOrTail() {
	f.going = false
	entry := flow.Entry(f.arch)
	switch r := f.rule(&f.at.State); {
	case r == f.rule(&entry):
		if len(f.tails) < maxPaths {
			f.tails = append(f.tails, f.at)
		}
	case !f.bounded():
		f.going = true
	case len(f.jumps) >= maxPaths:
		f.jump = jumpsUnlike
	default:
		f.jumps = append(f.jumps, f.at)
		if r == f.rule(&f.jumps[0].State) {
			return
		}
		if f.jump = jumpsUnlike; f.leading {
			f.contradicted()
		}
	}
}

// bounded reports whether the end of the function is known.
func (f *forward) bounded() bool { return f.hi-f.lo <= MaxFunction }

// more reports whether there are pending paths.
func (f *forward) more() bool {
	return f.going || len(f.paths)+len(f.waiting)+len(f.unsure)+len(f.jumps) > 0 || len(f.tails) > 0 && !f.framed
}

// fromJumps adds paths when all others have ended: the rest of the function is the targets of its
// jumps through tables. Such code begins after an instruction that ends a path. So the first
// address that was not reached is the first instruction of a case.
//
// The code has the frame of the jumps, if they all have the same frame. This is valid only if its
// paths agree with the others where they meet. No result is used before that is known.
func (f *forward) fromJumps() bool {
	if len(f.jumps) == 0 && !f.framed && f.bounded() {
		f.jumps = f.tails
	}
	f.tails = nil
	if len(f.jumps) == 0 {
		return false
	}
	if f.jump == jumpsUnlike {
		f.paths, f.jumps = f.jumps, nil
		return true
	}
	f.led = max(f.led, f.lo)
	for f.led < f.hi {
		if n := f.data[f.led]; n > 0 {
			f.led += n
			continue
		}
		r := f.reached[f.led]
		if r.rule == nil {
			f.leading = true
			f.paths = append(f.paths, codePath{pc: f.led, State: f.jumps[0].State})
			return true
		}
		if r.size == 0 {
			f.contradicted() // not code
			return false
		}
		f.led += uint64(r.size)
	}
	f.jumps, f.leading = nil, false
	return false
}

// contradicted removes all conclusions from jumps through tables.
func (f *forward) contradicted() {
	for pc, r := range f.reached {
		if r.led {
			r.rule = notReached
			f.reached[pc] = r
		}
	}
	f.jumps, f.leading, f.going, f.paths, f.waiting, f.unsure = nil, false, false, nil, nil, nil
}
