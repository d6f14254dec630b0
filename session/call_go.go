package session

import (
	"errors"
	"fmt"
	"strings"

	"dbg/arch"
	"dbg/eval"
	"dbg/symbols"
	"dbg/symbols/lang"
	"dbg/symbols/types"
	"dbg/target"
)

// A function of Go is called through the protocol that Go's runtime has for debuggers: see
// runtime.debugCallV2 in src/runtime/asm_amd64.s, and src/runtime/debugcall.go. Only the runtime
// knows whether the goroutine can be interrupted here, and only it can tell the garbage collector
// how to read the goroutine's stack meanwhile.
//
// The thread starts debugCallV2 as if the goroutine had called it. That runs the call on a new
// goroutine, which is locked to the same thread. It traps (INT3) at each step of the protocol:
//
//	dispatch   R12 = 0, in debugCallN: the debugger places the arguments, and calls
//	returned   R12 = 1, in debugCallN: the function has returned
//	panicked   R12 = 2, in debugCallPanicked: the function has panicked
//	refused    R12 = 8, in debugCallV2: the goroutine can't be interrupted here
//	restore    R12 = 16, in debugCallV2, on the first goroutine again: everything is undone
//
// The session has a site of its own at each of these INT3 instructions, so a trap is a hit like that
// of a C function's return (callReturned). All threads run between two traps: the collector may need
// them. The stack of the new goroutine may move while the function runs, so the call keeps no address
// in it: stack pointers are relative to the end of the stack (goroutine.moved).
//
// Objects that only dbg refers to must not be collected:
//   - The text of an argument is allocated with runtime.mallocgc by the same goroutine, just before
//     the call. No thread runs between the return of mallocgc and the call, which refers to it then.
//   - Pointers in a result, see hold.

// goTrap is a step of the protocol.
type goTrap uint8

const (
	goDispatch goTrap = iota
	goReturned
	goPanicked
	goRefused
	goRestore
)

// goProtocol holds the traps of a program, by address.
type goProtocol struct {
	entry   target.Addr // runtime.debugCallV2
	traps   map[target.Addr]goTrap
	malloc  target.Addr // runtime.mallocgc, 0 if the file does not have it
	barrier target.Addr // runtime.gcWriteBarrier1
	enabled target.Addr // runtime.writeBarrier.enabled
	status  int64       // offset of runtime.g.atomicstatus
}

// goCall is the part of a call that is about Go.
type goCall struct {
	*goProtocol
	caller  goroutine // the goroutine that was interrupted
	callee  goroutine // the one that runs the function; 0 before dispatch
	frame   int64     // of debugCallN
	entered bool      // dispatch was reached
	leaving bool      // only restore is awaited
	held    bool      // hold was called
	steps   []goStep
	step    int
	end     outcome // of the call
	stop    *Stop   // what to report after restore, if nobody waits for the call
	moved   []goMoved
}

// goStep is one call on the new goroutine. prepare places its arguments: sp is the stack pointer
// before the call. after reads what it has returned.
type goStep struct {
	fn      target.Addr
	prepare func(next *target.SavedState, sp uint64) error
	after   func() error
}

// goMoved is memory on the caller's stack that the function uses through a pointer. It gets a copy in
// the heap, because the function may keep the pointer; afterwards the copy is written back.
type goMoved struct {
	from, to target.Addr
	size     int64
}

const panickedInCall = `The program being debugged panicked while in a function called from dbg:
panic: %s
dbg has restored the context to what it was before the call.
Evaluation of the expression containing the function
(%s) will be abandoned.`

// goFrames are the sizes of the frames that the runtime offers for calls.
var goFrames = []int64{32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}

var errNoGoProtocol = errors.New("the program has no runtime.debugCallV2, by which functions of Go are called: " +
	"it needs Go 1.17 or later, and a symbol table")

// prepareGoCall makes a thread start the protocol.
func (s *Session) prepareGoCall(e *env, c *eval.Call, fn *symbols.Function, m *Module) (*call, error) {
	t := e.thread
	if !usesRegisters(fn.Producer()) {
		return nil, fmt.Errorf("%s was not compiled by Go 1.17 or later", c.Name)
	}
	g, err := s.goCaller(t)
	if err != nil {
		return nil, fmt.Errorf("%s can't be called: %w", c.Name, err)
	}
	in, results := goSignature(c.Type)
	layout, err := goLayout(in, results)
	if err != nil || len(in) != len(c.Args) || len(layout.Args) != len(c.Args) {
		return nil, fmt.Errorf("the ABI of Go does not tell where the arguments of %s belong", c.Name)
	}
	k := &call{name: c.Name, thread: t, done: make(chan outcome, 1)}
	k.golang = &goCall{caller: g}
	for _, n := range goFrames {
		if k.golang.frame == 0 && n >= layout.Frame {
			k.golang.frame = n
		}
	}
	if k.golang.frame == 0 {
		return nil, fmt.Errorf("the arguments of %s are too large", c.Name)
	}
	if k.golang.goProtocol, err = s.goProtocolFor(m, k.golang.frame); err != nil {
		return nil, err
	}
	if err := s.goRunning(k); err != nil {
		return nil, fmt.Errorf("%s can't be called: %w", c.Name, err)
	}
	if err := s.goSteps(k, c, layout, in, results); err != nil {
		return nil, err
	}
	if k.regs, err = s.tgt.Registers(t); err != nil {
		return nil, err
	}
	if k.saved, err = s.proc.SaveState(t); err != nil {
		return nil, err
	}
	next := k.saved.Clone()
	next.LeaveSyscall()
	pc, _ := k.regs.PC()
	sp, _ := k.regs.SP()
	lo, _, ok := stackOf(g.g, s.tgt)
	const room = 256
	if !ok || sp < lo+room+24 {
		return nil, fmt.Errorf("%s can't be called: the goroutine's stack has no room left", c.Name)
	}
	// The return address, and below it, after a word, the size of the frame.
	var b [24]byte
	order := s.tgt.Arch().ByteOrder
	order.PutUint64(b[16:], pc)
	order.PutUint64(b[:], uint64(k.golang.frame))
	if err := s.writeAll(target.Addr(sp-24), b[:]); err != nil {
		return nil, err
	}
	next.SetGeneral(arch.RSP, sp-8)
	next.SetGeneral(arch.RIP, uint64(k.golang.entry))
	s.goFlags(next, &k.regs)
	for a := range k.golang.traps {
		if !s.goSites[a] {
			if err := s.breakpoints.setInternal(s, a, internalCall); err != nil {
				return nil, err
			}
			s.goSites[a] = true // it stays until the program continues
		}
	}
	if err := s.proc.RestoreState(t, next); err != nil {
		return nil, err
	}
	s.calls = append(s.calls, k)
	s.dirty = true
	return k, nil
}

func (s *Session) goFlags(next *target.SavedState, regs *arch.Registers) {
	const direction, trap = 1 << 10, 1 << 8
	flags, _ := regs.Get(arch.RFLAGS)
	next.SetGeneral(arch.RFLAGS, flags&^(direction|trap))
}

// goCaller returns the goroutine that runs on a thread.
func (s *Session) goCaller(t target.ThreadID) (goroutine, error) {
	top, err := s.frame(t, 0)
	if err != nil {
		return goroutine{}, err
	}
	if c := s.systemCallOf(t); c != nil && !c.Returned {
		return goroutine{}, errors.New("the thread is in a system call")
	}
	fn := top.Function
	for l := 1; fn == nil && l < 10 && top.Inlined; l++ {
		if f, err := s.frame(t, l); err == nil {
			fn = f.Function
		}
	}
	if g := s.goroutineOf(t, fn); g.g != 0 {
		return g, nil
	}
	if fn != nil && fn.Lang == lang.Go {
		return goroutine{}, errors.New("the thread is on the stack of Go's runtime, and runs no goroutine")
	}
	return goroutine{}, errors.New("the thread is not in a function of Go, so it can't run one")
}

// goRunning checks the status of the calling goroutine.
func (s *Session) goRunning(k *call) error {
	if k.golang.status < 0 {
		return nil // the runtime checks the rest
	}
	const running, scanned = 2, 0x1000 // _Grunning, _Gscan
	w, ok := s.word32(target.Addr(k.golang.caller.g) + target.Addr(k.golang.status))
	if ok && w&^scanned != running {
		return errors.New("the goroutine is not running: it waits, or the thread is on the stack of Go's runtime")
	}
	return nil
}

func (s *Session) word32(a target.Addr) (uint32, bool) {
	var b [4]byte
	n, err := s.readMemory(a, b[:])
	return s.tgt.Arch().ByteOrder.Uint32(b[:]), err == nil && n == 4
}

func (s *Session) word64(a target.Addr) (uint64, bool) {
	var b [8]byte
	n, err := s.readMemory(a, b[:])
	return s.tgt.Arch().ByteOrder.Uint64(b[:]), err == nil && n == 8
}

// goTrapAt returns the call whose protocol has trapped a thread, or whose function has just returned.
func (s *Session) goTrapAt(t target.ThreadID, regs *arch.Registers) (*call, goTrap) {
	pc, _ := regs.PC()
	sp, _ := regs.SP()
	for i := len(s.calls) - 1; i >= 0; i-- {
		k := s.calls[i]
		g := k.golang
		if g == nil || k.thread != t {
			continue
		}
		if k.isBelow(s, target.Addr(pc), sp) {
			return k, goReturned
		}
		trap, ok := g.traps[target.Addr(pc)]
		if !ok {
			continue
		}
		switch trap {
		case goDispatch:
			if !g.entered {
				return k, trap
			}
		case goReturned, goPanicked:
			if g.entered && g.callee.runs(regs) {
				return k, trap
			}
		case goRefused, goRestore:
			if g.caller.runs(regs) {
				return k, trap
			}
		}
	}
	return nil, 0
}

// isBelow reports whether a frame with these registers is that to which the function returns.
func (k *call) isBelow(s *Session, pc target.Addr, sp uint64) bool {
	if k.pc == 0 || k.pc != pc {
		return false
	}
	if k.golang == nil {
		return k.sp == sp
	}
	_, hi, ok := stackOf(k.golang.callee.g, s.tgt)
	return ok && sp == k.sp+hi-k.golang.callee.hi
}

// goTrapped handles a trap of the protocol. All threads are stopped.
func (s *Session) goTrapped(k *call) {
	if err := s.goNext(k); err != nil {
		// A thread that is killed loses its memory first: what can't be read then is not the error.
		_, gone := s.proc.SaveState(k.thread)
		for _, e := range []error{err, gone} {
			if errors.Is(e, target.ErrGone) || errors.Is(e, target.ErrNoThread) {
				return // it was killed; its end follows
			}
		}
		s.logf("call of %s: %v", k.name, err)
		if k.golang.end.err == nil {
			k.golang.end.err = err
		}
		s.standStill()
		s.giveUp(k, &CallError{fmt.Sprintf("The call of %s can't go on: %v", k.name, err)})
	}
}

// giveUp ends the wait for a call.
func (s *Session) giveUp(k *call, err error) {
	if k.done != nil {
		k.done <- outcome{err: err}
		k.done = nil
	}
}

func (s *Session) goNext(k *call) error {
	g := k.golang
	regs, err := s.tgt.Registers(k.thread)
	if err != nil {
		return err
	}
	_, trap := s.goTrapAt(k.thread, &regs)
	st, err := s.proc.SaveState(k.thread)
	if err != nil {
		return err
	}
	st.LeaveSyscall()
	s.goFlags(st, &regs)
	pc, _ := regs.PC()
	sp, _ := regs.SP()
	st.SetGeneral(arch.RIP, pc+1)
	switch trap {
	case goDispatch:
		at, _ := regs.Get(arch.R14)
		_, hi, ok := stackOf(at, s.tgt)
		if !ok {
			return errors.New("the goroutine of the call is not known")
		}
		g.entered, g.callee = true, goroutine{at, hi}
		k.pc, k.sp = target.Addr(pc)+1, sp
		if k.done == nil { // the evaluation was given up before the function was called
			g.leaving = true
			st.SetGeneral(arch.RIP, uint64(s.goTrapAddr(k, goReturned))+1)
			break
		}
		if err := s.goStart(k, st, sp); err != nil {
			g.leaving, g.end.err = true, err
			st.SetGeneral(arch.RIP, uint64(s.goTrapAddr(k, goReturned))+1)
		}
	case goReturned:
		if err := s.goStepDone(k, st, sp); err != nil {
			g.end.err = err
		}
		if g.leaving {
			st.SetGeneral(arch.RIP, uint64(s.goTrapAddr(k, goReturned))+1)
		}
	case goPanicked:
		g.leaving = true
		g.end = outcome{err: &CallError{fmt.Sprintf(panickedInCall, s.goPanicText(k, sp), k.name)}}
	case goRefused:
		g.leaving = true
		g.end = outcome{err: fmt.Errorf("%s can't be called here: Go's runtime reports: %s", k.name, s.goRefusal(sp))}
	case goRestore:
		return s.goRestored(k)
	}
	if err := s.proc.RestoreState(k.thread, st); err != nil {
		return err
	}
	s.dirty = true
	s.proceed(target.Resume{})
	return nil
}

// goTrapAddr returns the address of a trap.
func (s *Session) goTrapAddr(k *call, want goTrap) target.Addr {
	for a, trap := range k.golang.traps {
		if trap == want {
			return a
		}
	}
	return 0
}

// goStart calls the function of the current step.
func (s *Session) goStart(k *call, st *target.SavedState, sp uint64) error {
	step := &k.golang.steps[k.golang.step]
	if err := step.prepare(st, sp); err != nil {
		return err
	}
	var b [8]byte
	s.tgt.Arch().ByteOrder.PutUint64(b[:], uint64(k.pc))
	if err := s.writeAll(target.Addr(sp-8), b[:]); err != nil {
		return err
	}
	st.SetVector(arch.XMM0+15, make([]byte, 16)) // X15 is zero in ABIInternal
	st.SetGeneral(arch.RSP, sp-8)
	st.SetGeneral(arch.RIP, uint64(step.fn))
	return nil
}

// goStepDone reads what a step has returned, and starts the next one, or leaves.
func (s *Session) goStepDone(k *call, st *target.SavedState, sp uint64) error {
	g := k.golang
	if g.leaving {
		return nil
	}
	if k.done == nil && g.stop == nil { // the user's finish or step has come to the end of the function
		end := Stop{Reason: StopStep, Thread: k.thread, call: true}
		if c := s.courses.of(k.thread); c != nil {
			if p, ok := c.plans[0].(*stepOut); ok && len(p.outer.list) == 1 && p.outer.list[0].addr == k.pc {
				end.Reason, end.Returned = StopFinish, p.left
				end.ReturnValue, end.HasReturnValue = s.returnValue(k.thread, p.module, p.left)
			}
		}
		g.stop = &end
	}
	if g.step < len(g.steps) {
		if err := g.steps[g.step].after(); err != nil {
			g.leaving = true
			return err
		}
		g.step++
	}
	if g.step == len(g.steps) && !g.held {
		g.held = true
		if err := s.hold(k); err != nil {
			g.leaving = true
			return err
		}
	}
	if g.step < len(g.steps) && k.done != nil {
		return s.goStart(k, st, sp)
	}
	g.leaving = true
	return nil
}

// goRestored ends a call: the caller's goroutine runs on the thread again.
func (s *Session) goRestored(k *call) error {
	g := k.golang
	_, hi, ok := stackOf(g.caller.g, s.tgt)
	if !ok {
		return errors.New("the goroutine is not known any more")
	}
	// The runtime does not move the stack of a goroutine that waits for a call. If it ever does, the
	// frame of debugCallV2 has the registers with their new values, but it is simple to move them here.
	if by := hi - g.caller.hi; by != 0 {
		lo, _, _ := stackOf(g.caller.g, s.tgt)
		old := g.caller.hi - (hi - lo)
		for _, r := range s.tgt.Arch().General {
			if v, ok := k.regs.Get(r); ok && v >= old && v <= g.caller.hi && r != arch.RIP {
				k.saved.SetGeneral(r, v+by)
			}
		}
	}
	done, stop := k.done, g.stop
	k.done = nil
	o := g.end
	if err := s.undoCall(k); err != nil && o.err == nil {
		o.err = err
	}
	if done != nil {
		s.standStill()
		done <- o
		return nil
	}
	var failed *CallError
	if errors.As(o.err, &failed) {
		s.publish(LogMessage{Warning: true, Text: failed.Text})
	}
	if stop == nil {
		stop = &Stop{Reason: StopStep, Thread: k.thread}
	}
	s.stop(*stop)
	return nil
}

// hold keeps the objects alive to which a result refers, until everything is restored: after that the
// program does not run before the user continues it.
//
// The frame of debugCallV2 on the caller's stack has four words that are not used any more. The
// collector scans that frame conservatively, so it finds pointers there, if it begins to mark after
// this moment. If it is marking already, it may have scanned the stack. Then the pointers go into the
// write barrier's buffer, as those that the program stores itself.
func (s *Session) hold(k *call) error {
	g := k.golang
	v := g.end.value
	if v.Type == nil || g.end.err != nil || k.done == nil {
		return nil
	}
	var list []uint64
	order := s.tgt.Arch().ByteOrder
	eval.GoPointers(v.Type, func(off int64, _ *types.Type) {
		if off+8 <= int64(len(v.Bytes)) {
			if p := order.Uint64(v.Bytes[off:]); p != 0 {
				list = append(list, p)
			}
		}
	})
	const words = 4
	if len(list) == 0 {
		return nil
	}
	sp, _ := k.regs.SP()
	pc, _ := k.regs.PC()
	// Below the return address: the frame pointer and the 152 bytes of debugCallV2. Its word 3 has the
	// size of the frame.
	frame := target.Addr(sp - 8 - 8 - 152)
	size, ok1 := s.word64(frame + 24)
	back, ok2 := s.word64(frame + 160)
	if ok1 && ok2 && size == uint64(g.frame) && back == pc {
		b := make([]byte, 8*words)
		for i, p := range list[:min(len(list), words)] {
			order.PutUint64(b[8*i:], p)
		}
		if err := s.writeAll(frame, b); err != nil {
			return err
		}
	}
	if on, ok := s.word32(g.enabled); g.enabled == 0 || g.barrier == 0 || !ok || on&0xff == 0 {
		return nil
	}
	for _, p := range list[:min(len(list), 64)] {
		g.steps = append(g.steps, goStep{
			fn:      g.barrier, // it has no arguments, and returns the address of a word of the buffer in R11
			prepare: func(*target.SavedState, uint64) error { return nil },
			after: func() error {
				regs, err := s.tgt.Registers(k.thread)
				if err != nil {
					return err
				}
				slot, _ := regs.Get(arch.R11)
				var b [8]byte
				order.PutUint64(b[:], p)
				return s.writeAll(target.Addr(slot), b[:])
			},
		})
	}
	return nil
}

// goRefusal reads the reason why Go's runtime refuses a call: a string at the stack pointer.
func (s *Session) goRefusal(sp uint64) string {
	at, _ := s.word64(target.Addr(sp))
	n, _ := s.word64(target.Addr(sp) + 8)
	b := make([]byte, min(n, 200))
	if got, err := s.readMemory(target.Addr(at), b); err != nil || got < len(b) {
		return "unknown reason"
	}
	return string(b)
}

// goPanicText formats the value of a panic, an interface at the stack pointer, as Go prints it where
// that needs no call.
func (s *Session) goPanicText(k *call, sp uint64) string {
	e := &env{s: s, thread: k.thread, framed: true}
	t := e.Type("runtime.eface")
	if t == nil {
		return "a value of unknown type"
	}
	v := eval.At(t, "", target.Addr(sp), e)
	held, ok := eval.Dynamic(v, e)
	switch {
	case !ok:
		return eval.Format(v, e, eval.DefaultOptions())
	case held.Type == nil:
		return "nil (or the function has called runtime.Goexit)"
	}
	held = eval.Fetch(held, e)
	name := held.Type.GoName()
	if text, ok := s.goStringIn(held); ok {
		switch {
		case name == "string":
			return text
		case strings.HasPrefix(name, "runtime.error"):
			return "runtime error: " + text
		}
		return name + "(" + text + ")"
	}
	if held.Type.Strip().Kind == types.Pointer {
		if to, err := eval.Target(held, e); err == nil {
			list, err := eval.Children(eval.Raw(to), e, 0, 1)
			if err == nil && len(list) == 1 {
				if text, ok := s.goStringIn(eval.Fetch(list[0], e)); ok {
					return name + "(" + text + ")"
				}
			}
		}
	}
	return name + " " + eval.Format(held, e, eval.DefaultOptions())
}

// goStringIn returns the text of a string of Go, or of the string with which a structure begins.
func (s *Session) goStringIn(v Value) (string, bool) {
	if v.Type == nil || len(v.Bytes) < 16 {
		return "", false
	}
	t := v.Type.Strip()
	fields := t.Fields()
	for t.Kind == types.Struct && len(fields) > 0 && t.Name != "string" && fields[0].Name != "str" && fields[0].Offset == 0 {
		t = fields[0].Type.Strip()
		fields = t.Fields()
	}
	if t.Kind != types.Struct || len(fields) != 2 || fields[0].Name != "str" {
		return "", false
	}
	order := s.tgt.Arch().ByteOrder
	b := make([]byte, min(order.Uint64(v.Bytes[8:]), mostText))
	n, err := s.readMemory(target.Addr(order.Uint64(v.Bytes)), b)
	return string(b[:n]), err == nil
}

// goUnwind takes a function and all that it has called off the stack of its goroutine, as if it had
// returned. The call must then run to its end.
func (s *Session) goUnwind(k *call) error {
	g := k.golang
	_, hi, ok := stackOf(g.callee.g, s.tgt)
	regs, err := s.tgt.Registers(k.thread)
	if err != nil {
		return err
	}
	if !g.entered || !ok || !g.callee.runs(&regs) {
		return errors.New("the thread does not run the function's goroutine; the call can't be taken back now")
	}
	st, err := s.proc.SaveState(k.thread)
	if err != nil {
		return err
	}
	st.LeaveSyscall()
	g.leaving = true
	st.SetGeneral(arch.RSP, k.sp+hi-g.callee.hi)
	st.SetGeneral(arch.RIP, uint64(s.goTrapAddr(k, goReturned))+1)
	s.goFlags(st, &regs)
	s.dirty = true
	return s.proc.RestoreState(k.thread, st)
}

// takeBack is goUnwind for a call for which nobody waits. The program runs until everything is
// restored.
func (s *Session) takeBack(k *call) error {
	if err := s.goUnwind(k); err != nil {
		return err
	}
	k.done = make(chan outcome, 1)
	k.golang.end = outcome{}
	_, err := s.runCall(k)
	return err
}

// unwindGoSignal is unwindSignal for a function of Go. If the signal has interrupted Go's runtime, it
// may hold locks: then the call stays on the stack.
func (s *Session) unwindGoSignal(k *call) bool {
	if f, err := s.frame(k.thread, 0); err != nil || f.Function == nil || strings.HasPrefix(f.Function.Name, "runtime.") {
		return false
	}
	if s.goUnwind(k) != nil {
		return false
	}
	k.golang.end = outcome{err: &CallError{fmt.Sprintf(unwoundInCall, k.name)}}
	s.proceed(target.Resume{})
	return true
}
