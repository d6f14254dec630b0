package unwindcheck

// claim is what the unwinder said of a caller where that is not what the caller had at the
// time of the call.
type claim struct {
	fault fault
	// The caller's state as it was claimed.
	pc, sp uint64
	saved  saved
	known  uint8 // of saved, a bit each
	entry  bool  // pc and sp are those of the entry: only registers differ
	deeper bool  // it is about a caller's caller
	row    bool  // it is about a row that the unwinder did not believe
	hits   uint64
}

// outcome is what came of a claim.
type outcome uint8

const (
	refuted outcome = iota // wrong
	proven                 // control has come to where it said
	open                   // nobody knows
)

// maxClaims bounds the different claims of one activation. With more, claims that say the same of another value
// count as one.
const maxClaims = 256

// same reports whether two claims say the same, at the same place.
func (c *claim) same(o *claim) bool {
	return c.fault.pc == o.fault.pc && c.fault.kind == o.fault.kind && c.pc == o.pc && c.sp == o.sp && c.saved == o.saved && c.known == o.known && c.row == o.row
}

// fits reports whether a claim describes the state in which control has landed. A callee that has
// its caller's registers overwritten with those of the place where it will go (the
// epilogue of _Unwind_RaiseException) is right about these, and names its own caller still.
func (c *claim) fits(s *state) bool {
	if !c.entry && (c.pc != s.pc || c.sp != s.sp) {
		return false
	}
	for i := range c.saved {
		if c.known&(1<<i) != 0 && c.saved[i] != s.saved[i] {
			return false
		}
	}
	return true
}

// blame says what of a claim that does not fit is wrong, where that is not what differs from the entry.
func (c *claim) blame(s *state) {
	f := &c.fault
	switch {
	case c.entry:
	case c.pc != s.pc:
		if f.kind == wrongReturn && f.truth == 0 { // the truth was not known yet
			f.truth = s.pc
		}
	case c.sp != s.sp:
		if f.truth == 0 {
			f.kind, f.said, f.truth = wrongSP, c.sp, s.sp
		}
	default:
		for i, reg := range calleeSaved {
			if c.known&(1<<i) != 0 && c.saved[i] != s.saved[i] {
				f.kind, f.reg, f.said, f.truth = wrongRegister, reg, c.saved[i], s.saved[i]
				return
			}
		}
	}
}

// addClaim adds a claim to a list; false if the list is full.
func addClaim(list []claim, c claim) ([]claim, bool) {
	alike := -1
	for i := range list {
		if list[i].fault.pc != c.fault.pc {
			continue
		}
		if list[i].same(&c) {
			list[i].hits++
			return list, true
		}
		if f := &list[i].fault; f.kind == c.fault.kind && f.reg == c.fault.reg && list[i].entry == c.entry && list[i].row == c.row {
			alike = i
		}
	}
	switch {
	case len(list) < maxClaims:
		c.hits = 1
		return append(list, c), true
	case alike >= 0:
		list[alike].hits++
		return list, true
	}
	return list, false
}

// transit is the time from the moment that a thread has given up an activation, by
// moving its stack pointer away, to the jump that makes good of it.
type transit struct {
	claims []claim
	// waiting are claims of a stack that was left and may be come back to.
	waiting []claim
	left    *stack
	depth   int // of left, then
}
