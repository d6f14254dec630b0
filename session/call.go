package session

import (
	"errors"
	"fmt"

	"dbg/abi"
	"dbg/arch"
	"dbg/eval"
	"dbg/symbols"
	"dbg/symbols/lang"
	"dbg/symbols/types"
	"dbg/target"
)

// A call of a function of the program (call_go.go has those of Go) runs on the stack of the thread in whose frame the expression
// is evaluated, below its red zone. The function returns to a site of the session's own. The
// evaluation gives up the lane while the program runs, and no stop is made of the function's
// return: what clients know of the present stop stays valid.
//
// Contract: a breakpoint, a signal, a pause or the end of the thread inside the call ends the
// evaluation with a *CallError. The call stays on the stack then, and is shown as a frame
// (Frame.Dummy). When the function returns after all, the registers are restored and the program
// stops.

// CallError reports that an evaluation was given up because the function that it called did not
// return.
type CallError struct{ Text string }

func (e *CallError) Error() string { return e.Text }

// dummyName is what the frame is called between a called function and the frame that was selected.
const dummyName = "<function called from dbg>"

// call is one call that is under way, or was given up and is still on the stack.
type call struct {
	name   string
	thread target.ThreadID
	saved  *target.SavedState
	writes []target.Write                                       // before it starts
	edit   func(*target.SavedState) (*target.SavedState, error) // of saved, when the call starts; nil: it has started
	after  *target.SavedState                                   // when it had returned; nil: what the thread has now
	regs   arch.Registers                                       // of saved
	pc     target.Addr                                          // the return address
	sp     uint64                                               // the stack pointer after the return
	result func() (Value, error)
	done   chan outcome // nil: nobody waits any more
	golang *goCall      // of a function of Go, else nil
}

// outcome is what became of a call.
type outcome struct {
	value Value
	err   error
}

// callRule is what the judge has to know of a call.
type callRule struct {
	thread target.ThreadID
	sp     uint64
	golang bool // a trap of Go's protocol, with any stack pointer
}

const (
	stoppedInCall = `The program being debugged stopped while in a function called from dbg.
Evaluation of the expression containing the function
(%s) will be abandoned.
When the function is done executing, dbg will silently stop it.`
	signalledInCall = `The program being debugged was signaled while in a function called from dbg.
dbg remains in the frame where the signal was received.
To change this behavior use "set unwindonsignal on".
Evaluation of the expression containing the function
(%s) will be abandoned.
When the function is done executing, dbg will silently stop it.`
	unwoundInCall = `The program being debugged was signaled while in a function called from dbg.
dbg has restored the context to what it was before the call.
To change this behavior use "set unwindonsignal off".
Evaluation of the expression containing the function
(%s) will be abandoned.`
	elsewhereInCall = `The program being debugged stopped in another thread while
making a function call from dbg.
Evaluation of the expression containing the function
(%s) will be abandoned.
When the function is done executing, dbg will silently stop it.`
	signalledElsewhere = `The program received a signal in another thread while
making a function call from dbg.
Evaluation of the expression containing the function
(%s) will be abandoned.
When the function is done executing, dbg will silently stop it.`
	exitedInCall = `The program being debugged exited while in a function called from dbg.
Evaluation of the expression containing the function
(%s) will be abandoned.`
	threadEndedInCall = `The thread ended while in a function called from dbg.
Evaluation of the expression containing the function
(%s) will be abandoned.`
)

var errNoProcessToCall = errors.New("You can't do that without a process to debug.") //lint:ignore ST1005 gdb's words

var _ eval.Caller = (*env)(nil)

// SetUnwindOnSignal sets whether a signal inside a called function restores the registers at once.
func (s *Session) SetUnwindOnSignal(on bool) {
	s.do(func() { s.unwindOnSignal = on })
}

// UnwindOnSignal returns what SetUnwindOnSignal has set.
func (s *Session) UnwindOnSignal() bool {
	on := false
	s.do(func() { on = s.unwindOnSignal })
	return on
}

// WithoutCalls returns a handle whose evaluations call no functions of the program: for what an
// editor evaluates by itself.
func (s *Session) WithoutCalls() *Session {
	h := *s
	h.quietly = true
	return &h
}

// Functions implements eval.Caller.
func (e *env) Functions(name string) []Value {
	list := e.s.searchList()
	if f := e.at(); f != nil && f.Module != nil && f.Module.Symbols != nil {
		list = append([]searched{{f.Module.Symbols, f.Module}}, list...)
	}
	seen := map[target.Addr]bool{}
	for _, in := range list {
		var named, other []Value
		for _, fn := range in.sym.FunctionsByName(name) {
			if fn.Lo == 0 && fn.Hi == 0 || fn.IsInlined() {
				continue
			}
			ft := in.sym.FunctionType(fn)
			if in.sym.IsIFunc(fn.Lo) {
				ft = nil // it is the resolver's
			}
			v := eval.FunctionValue(fn.Name, target.Addr(fn.Lo), ft)
			if in.mod != nil {
				v.Addr = in.mod.processAddr(fn.Lo)
			}
			switch {
			case seen[v.Addr]:
			case fn.Name == name || fn.Linkage == name:
				named = append(named, v)
			default:
				other = append(other, v)
			}
			seen[v.Addr] = true
		}
		if len(named) > 0 {
			return named
		}
		if len(other) > 0 {
			return other
		}
	}
	return nil
}

// Allocate implements eval.Caller: with the program's malloc, or, if it has none, on the stack below
// what is in use, where it stays as long as the evaluation lasts.
func (e *env) Allocate(data []byte) (target.Addr, error) {
	const most = 1 << 20
	if len(data) > most {
		return 0, fmt.Errorf("%d bytes are too many to be copied into the program", len(data))
	}
	if err := e.callable(); err != nil {
		return 0, err
	}
	if fs := e.Functions("malloc"); len(fs) > 0 {
		n := make([]byte, 8)
		e.Arch().ByteOrder.PutUint64(n, uint64(max(len(data), 1)))
		long := types.New(types.Uint, "unsigned long", 8, false, nil)
		v, err := e.Call(&eval.Call{Name: "malloc", Addr: fs[0].Addr, Fixed: 1, Result: long,
			Args: []eval.Argument{{Value: Value{Type: long, Bytes: n}}}})
		if err != nil {
			return 0, err
		}
		a := target.Addr(e.Arch().ByteOrder.Uint64(v.Bytes))
		if a == 0 {
			return 0, errors.New("no memory available to program: call to malloc failed")
		}
		_, err = e.WriteMemory(a, data)
		return a, err
	}
	_, sp, err := e.s.pcAndSP(e.thread)
	if err != nil {
		return 0, err
	}
	e.reserved = (e.reserved + uint64(len(data)) + 15) &^ 15
	a := target.Addr(sp - abi.RedZone - e.reserved)
	_, err = e.WriteMemory(a, data)
	return a, err
}

// callable is the error of a call that can't be made now.
func (e *env) callable() error {
	s := e.s
	switch {
	case s.proc == nil:
		return errNoProcessToCall
	case s.quietly:
		return errors.New("an expression that is evaluated without being asked for must not call functions")
	case s.deciding || !s.queried():
		return errors.New("a condition or a log message can't call functions of the program")
	case s.tgt.Arch() != arch.AMD64:
		return fmt.Errorf("functions of %s can't be called", s.tgt.Arch().Name)
	}
	return s.needProcess()
}

// Call implements eval.Caller.
func (e *env) Call(c *eval.Call) (Value, error) {
	if err := e.callable(); err != nil {
		return Value{}, err
	}
	s := e.s
	m := s.modules.find(c.Addr)
	var fn *symbols.Function
	if m != nil && m.Symbols != nil {
		if m.Symbols.IsIFunc(m.fileAddr(c.Addr)) {
			return e.callIndirect(c)
		}
		fn = m.Symbols.FunctionAt(m.fileAddr(c.Addr))
	}
	var k *call
	var err error
	if fn != nil && !fn.FromSymbolTable && fn.Lang == lang.Go {
		k, err = s.prepareGoCall(e, c, fn, m)
	} else {
		k, err = s.prepareCall(e, c, fn)
	}
	if err != nil {
		return Value{}, err
	}
	v, err := s.runCall(k)
	// The walk that found the frame is gone.
	e.frame, e.framed, e.visible, e.listed, e.viewed = nil, false, nil, false, Value{}
	return v, err
}

// callIndirect asks an indirect function's resolver for the function, and calls that.
func (e *env) callIndirect(c *eval.Call) (Value, error) {
	long := types.New(types.Uint, "unsigned long", 8, false, nil)
	k, err := e.s.prepareCall(e, &eval.Call{Name: c.Name, Addr: c.Addr, Result: long}, nil)
	if err != nil {
		return Value{}, err
	}
	v, err := e.s.runCall(k)
	if err != nil {
		return Value{}, err
	}
	direct := *c
	direct.Addr = target.Addr(e.Arch().ByteOrder.Uint64(v.Bytes))
	if direct.Addr == c.Addr {
		return Value{}, fmt.Errorf("the indirect function %s can't be resolved", c.Name)
	}
	return e.Call(&direct)
}

// maxCallStack bounds what a call puts on the stack.
const maxCallStack = 1 << 20

// prepareCall saves the thread's registers and sets up the function's frame.
func (s *Session) prepareCall(e *env, c *eval.Call, fn *symbols.Function) (*call, error) {
	t := e.thread
	how := callee{typ: c.Type, result: c.Result, lang: lang.C, producer: fn.Producer()}
	if fn != nil && !fn.FromSymbolTable {
		how.lang = fn.Lang
	}
	if top, err := s.frame(t, 0); err == nil && top.Function != nil && top.Function.Lang == lang.Go {
		return nil, fmt.Errorf("%s can't be called on a goroutine's stack, which may be too small", c.Name)
	}
	layout, place, copies, err := s.layOut(c, &how)
	if err != nil {
		return nil, err
	}
	regs, err := s.tgt.Registers(t)
	if err != nil {
		return nil, err
	}
	sp, ok := regs.SP()
	if !ok {
		return nil, errNoPC
	}
	back, err := s.returnSite()
	if err != nil {
		return nil, err
	}
	k := &call{name: c.Name, thread: t, regs: regs, pc: back, done: make(chan outcome, 1)}
	var next registerEdits

	// Copies first, then room for the result, then the arguments on the stack.
	sp = (sp - abi.RedZone - e.reserved) &^ 63
	addrs := make([]uint64, len(c.Args))
	for i := range c.Args {
		if copies[i] {
			b := c.Args[i].Bytes
			sp = (sp - uint64(len(b)) - 1) &^ 63
			addrs[i] = sp
			k.writes = append(k.writes, target.Write{Addr: target.Addr(sp), Data: b})
		}
	}
	hidden := uint64(0)
	if layout.Hidden {
		sp = (sp - uint64(c.Result.Strip().Size) - 1) &^ 63
		hidden = sp
	}
	sp = (sp - uint64(layout.Stack)) &^ uint64(layout.StackAlign-1)
	if hidden != 0 {
		next.general(arch.RDI, hidden)
	}
	frame := make([]byte, 8+layout.Stack)
	s.tgt.Arch().ByteOrder.PutUint64(frame, uint64(back))
	for i, p := range layout.Args {
		b := c.Args[i].Bytes
		if copies[i] {
			b = make([]byte, 8)
			s.tgt.Arch().ByteOrder.PutUint64(b, addrs[i])
		}
		if p.Memory {
			copy(frame[8+p.Offset:], b)
			continue
		}
		for _, part := range p.Parts {
			piece := b[part.Offset : part.Offset+part.Size]
			if part.Reg >= arch.XMM0 {
				next.vector(part.Reg, piece)
				continue
			}
			var word [8]byte
			copy(word[:], piece)
			v := s.tgt.Arch().ByteOrder.Uint64(word[:])
			if a := c.Args[i]; len(p.Parts) == 1 && !copies[i] && a.Type != nil {
				v = widen(v, part.Size, a.Type)
			}
			next.general(part.Reg, v)
		}
	}
	k.writes = append(k.writes, target.Write{Addr: target.Addr(sp - 8), Data: frame})
	k.sp = sp
	next.general(arch.RSP, sp-8)
	next.general(arch.RIP, uint64(c.Addr))
	next.general(arch.RAX, uint64(layout.Vectors))
	const direction, trap = 1 << 10, 1 << 8
	flags, _ := regs.Get(arch.RFLAGS)
	next.general(arch.RFLAGS, flags&^(direction|trap))
	k.edit = func(saved *target.SavedState) (*target.SavedState, error) {
		k.saved = saved
		edited, failed := next.apply(saved)
		if edited == nil {
			return nil, fmt.Errorf("%s can't be given an argument in %s", c.Name, s.tgt.Arch().RegName(failed))
		}
		return edited, nil
	}
	k.result = func() (Value, error) {
		if c.Result == nil || c.Result.Strip().Kind == types.Void {
			return eval.Void(), nil
		}
		var v Value
		var ok bool
		if k.after != nil {
			v, ok = s.readResultIn(savedRegisters(s.tgt.Arch(), k.after), c.Result, place)
		} else {
			v, ok = s.readResult(t, c.Result, place)
		}
		if !ok {
			return Value{}, errUnknownPlace
		}
		v.Addr, v.HasAddr = 0, false // its memory is free again
		return v, nil
	}
	if s.callSite != back {
		if err := s.breakpoints.setInternal(s, back, internalCall); err != nil {
			return nil, err
		}
		s.callSite = back // it stays until the program continues: the next call may follow at once
	}
	s.calls = append(s.calls, k)
	return k, nil
}

// layOut asks the ABI. copies tells which arguments are passed by the address of a copy.
func (s *Session) layOut(c *eval.Call, how *callee) (l abi.Layout, place abi.Place, copies []bool, err error) {
	result := eval.ABIType(c.Result)
	if place, err = how.place(); err != nil {
		return l, place, nil, errUnknownPlace
	}
	if result.Size > maxCallStack {
		return l, place, nil, errUnknownPlace
	}
	word := &abi.Type{Kind: abi.Integer, Size: 8}
	var args []*abi.Type
	total := int64(0)
	for i := range c.Args {
		a := &c.Args[i]
		t := eval.ABIType(a.Type)
		byAddress := a.ByAddress || t.ByReference
		if byAddress {
			t = word
		}
		if how.lang == lang.Rust && (t.Kind != abi.Integer && t.Kind != abi.Float || t.Size > 8 || t.X87 || place.Memory) {
			return l, place, nil, fmt.Errorf("%s is a function of Rust, whose ABI is not specified for its arguments", c.Name)
		}
		if abi.WideVectors(t) && !compiledFor(how.producer, t.Size) {
			return l, place, nil, fmt.Errorf("how %s gets a vector of %d bytes depends on how it was compiled", c.Name, t.Size)
		}
		if !byAddress && int64(len(a.Bytes)) != t.Size || len(a.Bytes) > maxCallStack {
			return l, place, nil, fmt.Errorf("argument %d of %s has no value", i+1, c.Name)
		}
		total += int64(len(a.Bytes))
		args, copies = append(args, t), append(copies, byAddress)
	}
	if total > maxCallStack {
		return l, place, nil, fmt.Errorf("the arguments of %s are too large", c.Name)
	}
	l, err = abi.SysV(result, args, c.Fixed)
	return l, place, copies, err
}

// widen extends a small integer to 32 bits, as compilers expect although the ABI does not say so.
func widen(v uint64, size int64, t *types.Type) uint64 {
	if size >= 4 {
		return v
	}
	t = t.Strip()
	if t.Signed && (t.Kind == types.Int || t.Kind == types.Char || t.Kind == types.Enum) {
		shift := uint(64 - 8*size)
		return uint64(uint32(int64(v<<shift) >> shift))
	}
	return v
}

func (s *Session) writeAll(a target.Addr, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	_, err := s.tgt.WriteMemory(a, b)
	return err
}

// returnSite returns the address to which called functions return: the second instruction of the
// program's entry point, which nobody executes any more. An unwinder looks a return address up at
// the byte before, and finds the entry point's frame there, which is the outermost.
func (s *Session) returnSite() (target.Addr, error) {
	if s.modules.entry != 0 {
		return s.modules.entry, nil
	}
	const atEntry = 9 // AT_ENTRY
	a, ok := s.tgt.Auxv(atEntry)
	if !ok || a == 0 {
		return 0, errors.New("the program's entry point is not known, and a called function could not return")
	}
	list, err := s.disassemble(target.Addr(a), 1)
	if err != nil || len(list) == 0 {
		return target.Addr(a), err
	}
	s.modules.entry = target.Addr(a) + target.Addr(len(list[0].Bytes))
	return s.modules.entry, nil
}

// runCall lets the program run until a call is over. The lane is free meanwhile.
func (s *Session) runCall(k *call) (Value, error) {
	done := k.done // the call forgets it when it is over, which may be before we wait
	s.dropCache()
	s.followLinker()
	s.publishRules()
	s.ctl.mu.Lock()
	s.ctl.run++
	s.ctl.pausing = false
	s.state, s.ctl.state = IsRunning, IsRunning
	s.ctl.mu.Unlock()
	returned, err := s.startCall(k)
	if err != nil {
		return Value{}, s.callFailed(k, err)
	}
	if returned {
		return s.quickResult(k)
	}
	s.interruptIfPausing()
	asked := s.asked
	s.leave()
	var o outcome
	select {
	case o = <-done:
	case <-asked.Done():
		_ = s.Pause() // it may have stopped just now
		o = <-done
	}
	s.lane <- struct{}{} // a query that is in the lane gives it up sooner or later, also when the session ends
	s.entered(asked)
	s.ctl.mu.Lock()
	s.ctl.client = true
	s.ctl.mu.Unlock()
	return o.value, o.err
}

// startCall lets the program run. It reports whether the function has returned already.
func (s *Session) startCall(k *call) (returned bool, err error) {
	r := target.RunTo{Resume: target.Resume{Thread: k.thread, Alone: s.locking == LockOn}, Back: k.pc, SP: k.sp, Writes: k.writes, Edit: k.edit}
	if k.edit == nil {
		return false, s.proc.Resume(r.Resume)
	}
	returned, err = target.Call(s.proc, &r)
	if err != nil && k.saved == nil && !errors.Is(err, target.ErrGone) && !errors.Is(err, target.ErrNoThread) {
		err = fmt.Errorf("the call's frame does not fit on the stack: %w", err)
	}
	k.after, k.writes = r.After, nil
	return returned, err
}

// callFailed undoes a call that could not be started, and returns its error.
func (s *Session) callFailed(k *call, err error) error {
	lost := errors.Is(err, target.ErrNoThread)
	if errors.Is(err, target.ErrGone) || lost && len(s.tgt.Threads()) == 0 { // killed; its end follows
		return &CallError{fmt.Sprintf(exitedInCall, k.name)}
	}
	if k.saved != nil {
		_ = s.undoCall(k)
	}
	s.dropCall(k)
	s.standStill()
	if lost {
		return &CallError{fmt.Sprintf(threadEndedInCall, k.name)}
	}
	return err
}

// quickResult ends a call whose function has returned before anybody had to wait. The thread has its
// state back.
func (s *Session) quickResult(k *call) (Value, error) {
	v, err := k.result()
	k.done = nil
	s.dropCall(k)
	s.standStill()
	return v, err
}

// standStill notes that the program has stopped without a stop for clients.
func (s *Session) standStill() {
	s.dropCache()
	s.ctl.mu.Lock()
	pausing := s.ctl.pausing
	s.state, s.ctl.state = IsStopped, IsStopped
	s.ctl.mu.Unlock()
	if pausing {
		s.stop(Stop{Reason: StopPause, Thread: s.selected})
	}
}

// callAt returns the call that a thread has just returned from.
func (s *Session) callAt(t target.ThreadID) *call {
	if len(s.calls) == 0 {
		return nil
	}
	regs, err := s.tgt.Registers(t)
	if err != nil {
		return nil
	}
	if k, _ := s.goTrapAt(t, &regs); k != nil {
		return k
	}
	pc, ok := regs.PC()
	sp, known := regs.SP()
	if !ok || !known {
		return nil
	}
	return s.callBelow(t, target.Addr(pc), sp)
}

func (s *Session) callBelow(t target.ThreadID, pc target.Addr, sp uint64) *call {
	for _, k := range s.calls {
		if k.thread == t && k.isBelow(s, pc, sp) {
			return k
		}
	}
	return nil
}

// callReturned ends a call whose function has returned. All threads are stopped.
func (s *Session) callReturned(k *call) {
	if k.golang != nil {
		s.goTrapped(k)
		return
	}
	if k.done != nil {
		var o outcome
		o.value, o.err = k.result()
		if err := s.undoCall(k); err != nil && o.err == nil {
			o.err = err
		}
		done := k.done
		k.done = nil
		s.standStill()
		done <- o
		return
	}
	st := Stop{Reason: StopStep, Thread: k.thread, call: true}
	if c := s.courses.of(k.thread); c != nil {
		if p, ok := c.plans[0].(*stepOut); ok && len(p.outer.list) == 1 && p.outer.list[0].addr == k.pc {
			st.Reason, st.Returned = StopFinish, p.left
			st.ReturnValue, st.HasReturnValue = s.returnValue(k.thread, p.module, p.left)
		}
	}
	if err := s.undoCall(k); err != nil {
		s.publish(LogMessage{Warning: true, Text: err.Error()})
	}
	s.stop(st)
}

// undoCall restores what a call has changed, and forgets it.
func (s *Session) undoCall(k *call) error {
	err := s.proc.RestoreState(k.thread, k.saved)
	s.dropCall(k)
	s.dropCache()
	return err
}

// removeCallSite is called before the program continues for the user.
func (s *Session) removeCallSite() {
	if s.callSite != 0 && len(s.calls) == 0 {
		s.breakpoints.clearInternal(s, s.callSite, internalCall)
		s.callSite = 0
	}
	if len(s.calls) == 0 {
		for a := range s.goSites {
			s.breakpoints.clearInternal(s, a, internalCall)
		}
		clear(s.goSites)
	}
}

// dropCall forgets a call.
func (s *Session) dropCall(k *call) {
	for i, x := range s.calls {
		if x == k {
			s.calls = append(s.calls[:i:i], s.calls[i+1:]...)
			s.dirty = true
			return
		}
	}
}

// abandonCalls ends the evaluations that wait for calls: the program has stopped for the user.
func (s *Session) abandonCalls(st *Stop) {
	for _, k := range append([]*call(nil), s.calls...) {
		if k.done != nil {
			text := stoppedInCall
			signal := st.Reason == StopSignal || st.Reason == StopPause
			switch {
			case st.Thread != k.thread && signal:
				text = signalledElsewhere
			case st.Thread != k.thread:
				text = elsewhereInCall
			case signal:
				text = signalledInCall
			}
			k.done <- outcome{err: &CallError{fmt.Sprintf(text, k.name)}}
			k.done = nil
			continue
		}
		if k.golang != nil {
			continue
		}
		// An exception or a longjmp may have left it: then the stack pointer is above.
		saved, _ := k.regs.SP()
		if _, sp, err := s.pcAndSP(k.thread); err == nil && sp > saved && sp < saved+stackReach {
			s.dropCall(k)
		}
	}
}

// endCalls ends the evaluations that wait for a call of a thread, or of any if that is 0, because
// the thread or the process is no more.
func (s *Session) endCalls(t target.ThreadID, text string) (found bool) {
	if t == 0 {
		s.callSite = 0
		clear(s.goSites)
		clear(s.goProtocols)
	}
	for _, k := range append([]*call(nil), s.calls...) {
		if t != 0 && k.thread != t {
			continue
		}
		found = true
		s.dropCall(k)
		if k.done != nil {
			k.done <- outcome{err: &CallError{fmt.Sprintf(text, k.name)}}
			k.done = nil
		}
	}
	return found
}

// unwindSignal restores the registers at once if a signal has come inside a call, and the user wants
// that.
func (s *Session) unwindSignal(t target.ThreadID) bool {
	if !s.unwindOnSignal {
		return false
	}
	for _, k := range s.calls {
		if k.thread == t && k.done != nil {
			if k.golang != nil {
				return s.unwindGoSignal(k)
			}
			done := k.done
			k.done = nil
			o := outcome{err: &CallError{fmt.Sprintf(unwoundInCall, k.name)}}
			if err := s.undoCall(k); err != nil {
				o.err = err
			}
			s.standStill()
			done <- o
			return true
		}
	}
	return false
}
