package unwindcheck

import "dbg/arch"

// calleeSaved lists the registers that a caller gets back: psABI, figure 3.4. The stack pointer is
// also one of them; its value is the CFA.
var calleeSaved = [...]arch.Reg{arch.RBX, arch.RBP, arch.R12, arch.R13, arch.R14, arch.R15}

// saved holds the values of calleeSaved.
type saved [len(calleeSaved)]uint64

// savedSet is a set of calleeSaved registers, with a bit for each.
type savedSet uint8

// differs returns the registers whose values differ in o.
func (s *saved) differs(o *saved) (set savedSet) {
	for i := range s {
		if s[i] != o[i] {
			set |= 1 << i
		}
	}
	return set
}

// state is the part of a thread's state that the shadow needs.
type state struct {
	pc, sp uint64
	rax    uint64
	saved  saved
}

// stateOf returns the state in a set of registers.
func stateOf(r *arch.Registers) (s state) {
	s.pc, _ = r.Get(arch.RIP)
	s.sp, _ = r.Get(arch.RSP)
	s.rax, _ = r.Get(arch.RAX)
	for i, reg := range calleeSaved {
		s.saved[i], _ = r.Get(reg)
	}
	return s
}

// kind tells how an activation was created.
type kind uint8

const (
	called  kind = iota // by a call instruction
	handler             // by the kernel, for a signal
	unknown             // by code that has changed its own stack: the caller is unknown
)

// activation is a function that was entered and has not been left yet.
type activation struct {
	kind kind

	cfa   uint64 // the caller's stack pointer after the return; the return address is below it
	ra    uint64
	saved saved // the registers that the caller must get back

	// popped means that the code has popped the return address into a register (vfork does).
	popped bool

	// These belong to a handler.
	returned    bool            // the thread is in the trampoline
	interrupted *arch.Registers // the interrupted state, which will be restored
	transit     *transit        // of the interrupted thread
	from        *stack          // the interrupted stack, if the handler runs on another one

	claims []claim // claims that differ from this activation
}

// stack is the shadow's information about one stack.
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

// seen extends the bounds to include sp.
func (s *stack) seen(sp uint64) {
	s.low, s.high = min(s.low, sp), max(s.high, sp)
}

// drop removes the innermost activation and returns its claims.
func (s *stack) drop() []claim {
	a := s.top()
	claims := a.claims
	*a = activation{}
	s.acts = s.acts[:len(s.acts)-1]
	return claims
}
