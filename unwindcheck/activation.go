package unwindcheck

import "dbg/arch"

// calleeSaved are the registers that a caller gets back: psABI, figure 3.4. The stack pointer,
// which belongs to them, is the CFA.
var calleeSaved = [...]arch.Reg{arch.RBX, arch.RBP, arch.R12, arch.R13, arch.R14, arch.R15}

// saved has the values of calleeSaved.
type saved [len(calleeSaved)]uint64

// savedSet is a set of calleeSaved: a bit each.
type savedSet uint8

// differs returns the registers that have other values in o.
func (s *saved) differs(o *saved) (set savedSet) {
	for i := range s {
		if s[i] != o[i] {
			set |= 1 << i
		}
	}
	return set
}

// state is where a thread is, as far as the shadow is concerned.
type state struct {
	pc, sp uint64
	rax    uint64
	saved  saved
}

// stateOf takes a state from registers.
func stateOf(r *arch.Registers) (s state) {
	s.pc, _ = r.Get(arch.RIP)
	s.sp, _ = r.Get(arch.RSP)
	s.rax, _ = r.Get(arch.RAX)
	for i, reg := range calleeSaved {
		s.saved[i], _ = r.Get(reg)
	}
	return s
}

// kind says how an activation came to be.
type kind uint8

const (
	called  kind = iota // by a call instruction
	handler             // by the kernel, for a signal
	unknown             // code that has changed the stack under itself: its caller is anybody's guess
)

// activation is a function that was entered and not yet left.
type activation struct {
	kind kind

	cfa   uint64 // the caller's stack pointer after the return; the return address is below it
	ra    uint64
	saved saved // what the caller is to get back

	// popped: the code has taken the return address from the stack, into a register (vfork does).
	popped bool

	// Of a handler.
	returned    bool            // the thread is in the trampoline
	interrupted *arch.Registers // the state that is to come back
	transit     *transit        // that the interrupted thread was in
	from        *stack          // the interrupted stack, when the handler has one of its own

	claims []claim // that disagree with all this
}

// stack is what is known of one stack.
type stack struct {
	acts      []activation // innermost last
	low, high uint64       // the stack pointers seen
	bottom    bool         // the function below acts[0] is the thread's first: it has no caller
}

func (s *stack) top() *activation {
	if n := len(s.acts); n > 0 {
		return &s.acts[n-1]
	}
	return nil
}

// seen widens the bounds.
func (s *stack) seen(sp uint64) {
	s.low, s.high = min(s.low, sp), max(s.high, sp)
}

// drop takes the innermost activation away and returns its claims.
func (s *stack) drop() []claim {
	a := s.top()
	claims := a.claims
	*a = activation{}
	s.acts = s.acts[:len(s.acts)-1]
	return claims
}
