package frames

import (
	"dbg/code"
)

// jumpState says what is known of a function's jumps through tables.
type jumpState uint8

const (
	jumpsAlike  jumpState = iota // all of them happen in one frame, if there is any
	jumpsUnlike                  // or nothing is to be concluded from them
)

// tableOrTail handles a jump whose target is unknown; f.at is after it.
//
// If the frame is that of the function's first instruction, the jump is a tail call, unless the
// function has no other frame anywhere. Otherwise a table most likely lists its targets. The first of
// them often follows the jump.
func (f *forward) tableOrTail() {
	f.going = false
	entry := code.Entry(f.arch)
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

// bounded reports whether it is known where the function ends.
func (f *forward) bounded() bool { return f.hi-f.lo <= callReach }

// more reports whether there are paths to go on.
func (f *forward) more() bool {
	return f.going || len(f.paths)+len(f.waiting)+len(f.unsure)+len(f.jumps) > 0 || len(f.tails) > 0 && !f.framed
}

// fromJumps finds more paths when all others have ended: the rest of the function is what its jumps
// through tables lead to. Such code begins after an instruction that does not go on. So the first
// address that was not reached is the first instruction of a case.
//
// The code has the frame of the jumps, if they all have the same one. That is believed only if its
// paths agree with the others where they meet. Nobody gets an answer before that is known.
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
			f.contradicted() // no code
			return false
		}
		f.led += uint64(r.size)
	}
	f.jumps, f.leading = nil, false
	return false
}

// contradicted takes back all that was concluded from jumps through tables.
func (f *forward) contradicted() {
	for pc, r := range f.reached {
		if r.led {
			r.rule = notReached
			f.reached[pc] = r
		}
	}
	f.jumps, f.leading, f.going, f.paths, f.waiting, f.unsure = nil, false, false, nil, nil, nil
}
