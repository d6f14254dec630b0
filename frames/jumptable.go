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

// tableOrTail is for a jump to where nobody knows; f.at is behind it. With the frame of a function's first instruction it is a
// call in the place of a return, and leads out of the function, unless that has no other frame anywhere. Else its targets are most
// likely listed in a table; the first of them often follows.
func (f *forward) tableOrTail() {
	f.going = false
	entry := code.Entry(f.arch)
	switch r := f.rule(&f.at.State); {
	case r == f.rule(&entry):
		if len(f.tails) < startWays {
			f.tails = append(f.tails, f.at)
		}
	case !f.bounded():
		f.going = true
	case len(f.jumps) >= startWays:
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

// more reports whether there are ways to go on.
func (f *forward) more() bool {
	return f.going || len(f.ways)+len(f.waiting)+len(f.unsure)+len(f.jumps) > 0 || len(f.tails) > 0 && !f.framed
}

// fromJumps goes on where all other ways have ended: what the function has besides is reached by its jumps through tables. Such code
// begins behind an instruction that does not go on, so that the first address that was not reached is the first
// instruction of a case. It has the frame of the jumps, if that is the same for all of them, and is
// believed if its ways agree with the others where they meet. Nobody is answered before that is known.
func (f *forward) fromJumps() bool {
	if len(f.jumps) == 0 && !f.framed && f.bounded() {
		f.jumps = f.tails
	}
	f.tails = nil
	if len(f.jumps) == 0 {
		return false
	}
	if f.jump == jumpsUnlike {
		f.ways, f.jumps = f.jumps, nil
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
			f.ways = append(f.ways, entryWay{pc: f.led, State: f.jumps[0].State})
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
	f.jumps, f.leading, f.going, f.ways, f.waiting, f.unsure = nil, false, false, nil, nil, nil
}
