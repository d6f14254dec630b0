package flow

// At returns the frame at an address, or nil if the address was not reached.
func (f *Flow) At(pc uint64) *Frame {
	at := (pc - f.base) >> f.unit
	if at >= uint64(len(f.units)) || f.units[at].frame == 0 {
		return nil
	}
	return &f.frames[f.units[at].frame-1]
}

// Frames returns the different frames. They are valid until Reset.
func (f *Flow) Frames() []Frame { return f.frames }

// Number returns the index in Frames of the frame at an address, or -1 if it was not reached.
func (f *Flow) Number(pc uint64) int {
	at := (pc - f.base) >> f.unit
	if at >= uint64(len(f.units)) {
		return -1
	}
	return int(f.units[at].frame) - 1
}

// Each calls fn for each instruction that was reached, by rising address, with the index of its
// frame in Frames.
func (f *Flow) Each(fn func(pc uint64, size int, frame int) bool) {
	for at := range f.units {
		if u := &f.units[at]; u.frame != 0 && !fn(f.pc(uint32(at)), int(u.n), int(u.frame)-1) {
			return
		}
	}
}

// Gap returns the first range, from pc on, that no reached instruction occupies. lo is hi at the
// end.
func (f *Flow) Gap(pc uint64) (lo, hi uint64) {
	n := uint32(len(f.units))
	at := uint32(min((pc-f.base)>>f.unit, uint64(n)))
	for at < n && f.units[at].frame != 0 {
		at += max(uint32(f.units[at].n)>>f.unit, 1)
	}
	at = min(at, n)
	end := at
	for end < n && f.units[end].frame == 0 {
		end++
	}
	return f.pc(at), f.pc(end)
}

// Calls returns the states at calls, one for each different frame: the first one with it. Jumps
// returns those at jumps with unknown targets: tail calls, and jumps through tables; PC is the
// last such jump. Both are valid until Reset.
func (f *Flow) Calls() []Seen { return f.callSPs }

// Jumps returns the states at jumps with unknown targets: see Calls.
func (f *Flow) Jumps() []Seen { return f.jumps }

// Tally returns the counts so far.
func (f *Flow) Tally() Tally {
	t := f.tally
	t.Insns = f.count
	return t
}

// Most returns the index of the most frequent frame among the chosen ones with a known stack
// pointer, or -1 if there is no such frame.
func (f *Flow) Most(chosen []bool) int {
	count := make([]int, len(f.frames))
	best := -1
	f.Each(func(_ uint64, _, n int) bool {
		if n < len(chosen) && chosen[n] && f.frames[n].HasSP {
			if count[n]++; best < 0 || count[n] > count[best] {
				best = n
			}
		}
		return true
	})
	return best
}
