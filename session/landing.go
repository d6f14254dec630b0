package session

import (
	"math/bits"

	"dbg/arch"
	"dbg/code"
	"dbg/image"
	"dbg/symbols"
	"dbg/target"
)

// An exception, a longjmp or a recovered panic leaves frames without a return. A plan that waits in
// one of these frames would wait for ever. So the session has sites of its own where the runtime
// libraries know the place at which control lands, while the program runs with a plan that waits:
//
//   - C++, Rust and other users of the Itanium ABI's unwinder: libgcc's _Unwind_DebugHook, its probe
//     libgcc:unwind, or _Unwind_SetIP, which every personality routine calls with the address of the
//     landing pad.
//   - C: the functions of the longjmp family, or glibc's probes libc:longjmp_target and libc:longjmp.
//   - Go: the call of runtime.gogo in runtime.recovery.
//
// There the thread's course gets a mark at the landing place. When the thread arrives, its frame
// tells whether the step has ended (landed), or whether the exception was handled in a deeper call
// (the step goes on). gdb does the same.

// landingKind tells how a landing site knows the landing place.
type landingKind uint8

const (
	landOperand    landingKind = iota // an operand is the address
	landJumpBuffer                    // the first argument is a jmp_buf
	landRecovery                      // RAX is the address of a runtime.gobuf
)

// landingPlace is a place in a file where control is about to land elsewhere. The address is the
// file's, or the process's in landingSites.at.
type landingPlace struct {
	addr    uint64
	kind    landingKind
	operand probeOperand // of landOperand
}

// landingSites holds the sites in the process. They are set when a plan waits for the first time, and
// removed before the program runs without a plan: consecutive steps share them.
type landingSites struct {
	known map[*symbols.Module][]landingPlace
	at    map[target.Addr]landingPlace
}

// landing is the place where a course's thread is about to land.
type landing struct {
	mark
	goroutine // set if it is one that lands
}

// jumpFunctions lists the functions of the longjmp family. In glibc most are the same function.
var jumpFunctions = []string{"longjmp", "_longjmp", "siglongjmp", "__libc_longjmp", "__libc_siglongjmp", "__longjmp_chk"}

// landingPlaces finds the places in a file. The program's separate debug file is searched, too.
func (s *Session) landingPlaces(m *Module) []landingPlace {
	sym := m.Symbols
	if list, ok := s.landings.known[sym]; ok {
		return list
	}
	var list []landingPlace
	find := sym.OwnLinkageAddr
	if sym == s.exeFile {
		find = sym.LinkageAddr
	}
	probes := func(provider, name string, operand int) bool {
		found := false
		for _, p := range probesIn(m.file, provider, name) {
			if operand < len(p.operands) && p.operands[operand].known {
				list = append(list, landingPlace{addr: uint64(p.addr), operand: p.operands[operand]})
				found = true
			}
		}
		return found
	}
	if !probes("libgcc", "unwind", 1) {
		// The second argument of both is the address of the landing pad.
		for _, name := range []string{"_Unwind_DebugHook", "_Unwind_SetIP"} {
			if a, ok := find(name); ok && a != 0 {
				list = append(list, landingPlace{addr: uint64(a), operand: probeOperand{reg: arch.RSI, known: true}})
				break
			}
		}
	}
	if !probes("libc", "longjmp_target", 2) && !probes("libc", "longjmp", 2) {
		seen := map[uint64]bool{}
		for _, name := range jumpFunctions {
			if a, ok := find(name); ok && a != 0 && !seen[uint64(a)] {
				seen[uint64(a)] = true
				list = append(list, landingPlace{addr: uint64(a), kind: landJumpBuffer})
			}
		}
	}
	list = append(list, s.recoveries(m)...)
	if s.landings.known == nil {
		s.landings.known = map[*symbols.Module][]landingPlace{}
	}
	s.landings.known[sym] = list
	return list
}

// recoveries finds where Go's runtime continues a goroutine whose panic was recovered: it calls
// runtime.gogo with the address of a gobuf, which begins with SP, PC and g.
func (s *Session) recoveries(m *Module) (list []landingPlace) {
	f := m.file
	if !f.HasSection(".gopclntab") && !f.HasSection(".data.rel.ro.gopclntab") {
		return nil
	}
	for _, fn := range m.Symbols.FunctionsByName("runtime.recovery") {
		if fn.Hi <= fn.Lo || fn.Hi-fn.Lo > mostSpanBytes {
			continue
		}
		text := make([]byte, fn.Hi-fn.Lo)
		if n, _ := s.tgt.ReadMemory(m.processAddr(fn.Lo), text); n < len(text) {
			continue
		}
		for at := 0; at < len(text); {
			in := code.DecodeX86(text[at:])
			if in.Len == 0 {
				break
			}
			pc := fn.Lo + image.Addr(at)
			at += int(in.Len)
			if in.Next != code.Call {
				continue
			}
			to := fn.Lo + image.Addr(at) + image.Addr(int64(in.Imm))
			name, off, ok := m.Symbols.SymbolAt(to)
			if ok && off == 0 && (name == "runtime.gogo" || name == "runtime.gogo.abi0") {
				list = append(list, landingPlace{addr: uint64(pc), kind: landRecovery})
			}
		}
	}
	return list
}

// armLandings sets the sites in all modules, and removes those of modules that are gone.
func (s *Session) armLandings() {
	if s.proc == nil || s.tgt.Arch() != arch.AMD64 {
		return
	}
	gone := s.landings.at
	s.landings.at = map[target.Addr]landingPlace{}
	for _, m := range s.modules.all {
		if m.Symbols == nil || m.file == nil || m.Path == "[vdso]" {
			continue
		}
		for _, p := range s.landingPlaces(m) {
			a := target.Addr(p.addr + m.Bias)
			if _, ok := gone[a]; ok {
				delete(gone, a)
			} else if err := s.breakpoints.setInternal(s, a, internalLanding); err != nil {
				s.logf("can't follow exceptions at %#x: %v", uint64(a), err)
				continue
			} else {
				s.dirty = true
			}
			p.addr = uint64(a)
			s.landings.at[a] = p
		}
	}
	for a := range gone {
		s.breakpoints.clearInternal(s, a, internalLanding)
		s.dirty = true
	}
}

// disarmLandings removes the sites.
func (s *Session) disarmLandings() {
	for a := range s.landings.at {
		s.breakpoints.clearInternal(s, a, internalLanding)
		s.dirty = true
	}
	s.landings.at = nil
}

// goroutineAt returns the goroutine that a place of landRecovery continues.
func (p *landingPlace) goroutineAt(regs *arch.Registers, mem target.Memory) (uint64, bool) {
	if p.kind != landRecovery {
		return 0, false
	}
	buf, ok := regs.Get(arch.RAX)
	if !ok {
		return 0, false
	}
	return wordAt(mem, buf+16)
}

// target returns where control lands, and the stack pointer there; 0 means unknown.
func (p *landingPlace) target(regs *arch.Registers, mem target.Memory, executable func(target.Addr) bool) (pc target.Addr, sp uint64, ok bool) {
	switch p.kind {
	case landOperand:
		v, ok := p.operand.value(regs, mem)
		return target.Addr(v), 0, ok && v != 0
	case landRecovery:
		buf, ok1 := regs.Get(arch.RAX)
		sp, ok2 := wordAt(mem, buf)
		v, ok3 := wordAt(mem, buf+8)
		return target.Addr(v), sp, ok1 && ok2 && ok3 && v != 0
	}
	// A jmp_buf of x86-64 has SP and PC in its words 6 and 7, in glibc and in musl. glibc mangles
	// them: exclusive or with the pointer guard in the thread's control block, then a rotation.
	env, ok := regs.Get(arch.RDI)
	if !ok {
		return 0, 0, false
	}
	sp, ok1 := wordAt(mem, env+6*8)
	v, ok2 := wordAt(mem, env+7*8)
	if !ok1 || !ok2 {
		return 0, 0, false
	}
	if base, ok := regs.Get(arch.FSBase); ok {
		const pointerGuard, rotation = 0x30, 0x11
		if guard, ok := wordAt(mem, base+pointerGuard); ok {
			plain := func(v uint64) uint64 { return bits.RotateLeft64(v, -rotation) ^ guard }
			if executable(target.Addr(plain(v))) {
				return target.Addr(plain(v)), plain(sp), true
			}
		}
	}
	return target.Addr(v), sp, executable(target.Addr(v))
}

// foresee handles a thread at a landing site: its course gets a mark at the landing place.
func (s *Session) foresee(c *course, p *landingPlace, regs *arch.Registers) {
	if g, ok := p.goroutineAt(regs, s.tgt); ok && c.g != 0 && g != c.g {
		return
	}
	pc, sp, ok := p.target(regs, s.tgt, (&space{s}).Executable)
	if !ok {
		return
	}
	l := &landing{mark: mark{addr: pc}}
	if sp != 0 {
		l.exact, l.cfaReg, l.cfa = true, arch.RSP, target.Addr(sp)
	}
	if p.kind == landRecovery {
		// The stack may have been moved since the step began. The gobuf has the present address.
		l.goroutine = c.goroutine
		if _, hi, ok := stackOf(c.g, s.tgt); ok && c.g != 0 {
			l.goroutine.hi = hi
		}
	}
	s.dropLanding(c)
	if err := s.breakpoints.setInternal(s, pc, internalStep); err != nil {
		s.logf("can't follow an exception to %#x: %v", uint64(pc), err)
		return
	}
	c.landing, s.dirty = l, true
}

// dropLanding removes a course's mark at a landing place.
func (s *Session) dropLanding(c *course) {
	if c.landing != nil {
		s.breakpoints.clearInternal(s, c.landing.addr, internalStep)
		c.landing, s.dirty = nil, true
	}
}

// land looks whether a course's thread is at a landing site, or has landed. done means that the
// thread has landed in the frame of a plan, or outside all of them. The step then ends there.
func (s *Session) land(c *course) (act action, done bool, err error) {
	if c.landing == nil && len(s.landings.at) == 0 {
		return act, false, nil
	}
	regs, err := s.tgt.Registers(c.thread)
	if err != nil {
		return act, false, err
	}
	pc, _ := regs.PC()
	if p, ok := s.landings.at[target.Addr(pc)]; ok {
		s.foresee(c, &p, &regs)
		return act, false, nil
	}
	l := c.landing
	if l == nil || uint64(l.addr) != pc {
		return act, false, nil
	}
	if moved, ok := l.moved(&regs, s.tgt); !ok || !l.matches(&regs, moved) {
		return act, false, nil
	}
	s.dropLanding(c)
	deeper, err := s.landedDeeper(c)
	if err != nil || deeper {
		return act, false, err
	}
	for len(c.plans) > 1 {
		s.pop(c)
	}
	if s.lineless(target.Addr(pc)) {
		// The landing pad belongs to no line: go on to the first line.
		st, ok := c.plans[0].(*lineStep)
		if !ok {
			s.pop(c)
			return action{push: &lineStep{over: true, count: 1, lineless: true}}, true, nil
		}
		st.leaving, st.into, st.lineless = false, 0, true
		act, err = st.begin(s, c)
		return act, true, err
	}
	if p, ok := c.plans[0].(interface {
		landed(*Session, *course) (action, error)
	}); ok {
		act, err = p.landed(s, c)
		return act, true, err
	}
	return action{done: true, stop: Stop{Reason: StopStep}}, true, nil
}

// lineless reports whether code in a function with lines belongs to line 0.
func (s *Session) lineless(pc target.Addr) bool {
	m := s.modules.find(pc)
	if m == nil || m.Symbols == nil {
		return false
	}
	lr, ok := m.Symbols.LineAt(m.fileAddr(pc))
	return ok && lr.Line == 0
}

// framed is a plan that belongs to a frame. frame returns its CFA, or 0 if it is unknown.
type framed interface{ frame() target.Addr }

// mostLandingFrames bounds the frames that are searched for those of the plans.
const mostLandingFrames = 512

// landedDeeper reports whether the thread has landed in a frame that is deeper than the frames of
// all waiting plans.
func (s *Session) landedDeeper(c *course) (bool, error) {
	wanted := map[target.Addr]bool{}
	for _, p := range c.plans {
		if p, ok := p.(framed); ok && p.frame() != 0 {
			wanted[p.frame()] = true
		}
	}
	if len(wanted) == 0 {
		return true, nil // the plans wait for places, in any frame
	}
	stack, err := s.top(c.thread, mostLandingFrames)
	if err != nil && len(stack) == 0 {
		return false, err
	}
	for i, f := range stack {
		if !f.HasCFA || !wanted[f.CFA] {
			continue
		}
		if i == 0 {
			return false, nil
		}
		if delete(wanted, f.CFA); len(wanted) == 0 {
			return true, nil
		}
	}
	if len(stack) < mostLandingFrames {
		return false, nil // a frame is gone
	}
	for cfa := range wanted {
		if cfa <= stack[0].CFA {
			return false, nil
		}
	}
	return true, nil
}

// A step lands in its own frame, or it ends: these are the frames of the plans.

func (st *lineStep) frame() target.Addr       { return st.cfa }
func (p *stepOut) frame() target.Addr         { return p.into }
func (p *instructionStep) frame() target.Addr { return p.cfa }
func (p *runTo) frame() target.Addr           { return p.caller }

// landed ends one of several steps.
func (st *lineStep) landed(s *Session, c *course) (action, error) {
	st.leaving, st.into = false, 0
	return st.finish(s, c)
}

func (p *instructionStep) landed(s *Session, c *course) (action, error) { return p.next(s, c) }

// landingRule is the judge's information about a landing site.
type landingRule struct {
	place   landingPlace
	threads []landingThread
}

// landingThread is a thread or a goroutine that a plan moves.
type landingThread struct {
	goroutine
	thread target.ThreadID
}

// met reports whether a thread at the site, or the goroutine that it continues, has a plan.
func (r *landingRule) met(h *target.Hit, mem target.Memory) bool {
	g, recovers := r.place.goroutineAt(h.Regs, mem)
	for i := range r.threads {
		if c := &r.threads[i]; recovers && c.g != 0 && c.g == g || c.thread == h.Thread && !(recovers && c.g != 0) {
			return true
		}
	}
	return false
}

// landingRules adds the landing sites, and the marks of courses that are about to land.
func (s *Session) landingRules(at func(target.Addr) *siteRule) {
	var threads []landingThread
	for _, c := range s.courses.all {
		threads = append(threads, landingThread{c.goroutine, c.thread})
		if l := c.landing; l != nil {
			r := at(l.addr)
			r.marks = append(r.marks, markRule{l.mark, l.goroutine, c.thread})
		}
	}
	for a, p := range s.landings.at {
		at(a).landing = &landingRule{p, threads}
	}
}
