package unwindcheck

// claim is the unwinder's answer about a caller, if it differs from the caller's state at the call.
type claim struct {
	fault fault
	// The claimed state of the caller.
	pc, sp uint64
	saved  saved
	known  uint8 // which of saved are known, a bit each
	entry  bool  // pc and sp are those of the entry; only registers differ
	deeper bool  // it is about the caller of a caller
	row    bool  // it is about a row that the unwinder rejected
	hits   uint64
}

// outcome is the result of checking a claim.
type outcome uint8

const (
	refuted outcome = iota // wrong
	proven                 // control has gone where it claimed
	open                   // unknown
)

// maxClaims limits the different claims of one activation. Beyond that, claims that differ only in
// a value are counted as one.
const maxClaims = 256

// same reports whether two claims at the same place are equal.
func (c *claim) same(o *claim) bool {
	return c.fault.pc == o.fault.pc && c.fault.kind == o.fault.kind && c.pc == o.pc && c.sp == o.sp && c.saved == o.saved && c.known == o.known && c.row == o.row
}

// fits reports whether a claim describes the state in which control has landed. A callee may have
// its caller's registers overwritten with those of the place where it will go (the epilogue of
// _Unwind_RaiseException). Its claim is then correct about these registers, and still names its own
// caller.
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

// blame sets the error of a claim that does not fit, if that is not its difference from the entry.
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

// addClaim adds a claim to a list. It returns false if the list is full.
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

// transit is the time between leaving an activation, when a thread moves its stack pointer away,
// and the jump that completes the move.
type transit struct {
	claims []claim
	// waiting holds claims of a stack that was left and may be resumed.
	waiting []claim
	left    *stack
	depth   int // the number of activations in left at that time
}
