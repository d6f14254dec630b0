package unwindcheck

import (
	"path"
	"strings"
	"time"

	"dbg/arch"
	"dbg/frames"
	"dbg/target"
	"dbg/target/ptrace/stepall"
)

// checker is the visitor of ptrace.Process.StepAll.
type checker struct {
	opts     Options
	proc     frames.MappedTarget
	space    *space
	unwinder *frames.Unwinder
	shadow   *shadow
	places   places
	threads  map[target.ThreadID]*checked

	// handled means that the program has a handler for the signal that will be sent.
	handled bool

	report  *Report
	rows    map[rowKey]struct{} // rows that were judged
	entries map[rowKey]struct{} // their entries: keys without the row
	ranges  map[rangeKey]*wrongRange
	gone    map[registerOf]struct{} // registers that functions did not restore
	started time.Time

	overruled arch.RegSet // at the thread's place: lost by the code, against the table
	refused   bool        // a rejected row is being judged: count it only if it is wrong

	last *checked // the thread of the last step
}

// checked is a thread.
type checked struct {
	thread
	id    target.ThreadID
	walk  *frames.Walk
	place *place         // the place of the next instruction
	then  uint64         // the predicted address after it; 0 if there is no prediction
	regs  arch.Registers // the registers there
}

func newChecker(p frames.MappedTarget, opts Options) (*checker, error) {
	c := &checker{opts: opts, proc: p,
		places:  places{pages: map[uint64]*[pageSize]*place{}},
		threads: map[target.ThreadID]*checked{},
		rows:    map[rowKey]struct{}{}, entries: map[rowKey]struct{}{},
		ranges: map[rangeKey]*wrongRange{}, gone: map[registerOf]struct{}{},
		report: newReport(), started: time.Now(),
	}
	c.shadow = &shadow{word: c.word, settle: c.settle}
	var err error
	if c.space, err = newSpace(p, restrictTo(opts.Source)); err != nil {
		return nil, err
	}
	c.newUnwinder()
	return c, nil
}

func (c *checker) newUnwinder() {
	c.unwinder = frames.New(arch.AMD64, c.space)
	c.unwinder.Use = c.opts.Source.strategies()
	c.unwinder.Prove = c.opts.Prove
	c.unwinder.Audit = c.opts.Source == "" // otherwise a strategy is judged alone
}

func (c *checker) word(addr uint64) (uint64, bool) {
	var b [8]byte
	if n, _ := c.space.ReadMemory(target.Addr(addr), b[:]); n != 8 {
		return 0, false
	}
	return arch.AMD64.ByteOrder.Uint64(b[:]), true
}

// VisitStep implements stepall.Visitor.
func (c *checker) VisitStep(s *stepall.Step) stepall.Next {
	switch s.Cause {
	case stepall.CauseExit:
		c.end(s.Thread)
		return stepall.Next{}
	case stepall.CauseGone:
		for id := range c.threads {
			c.end(id)
		}
		c.report.Exit, c.report.Signal = s.Status, s.Signal
		return stepall.Next{}
	case stepall.CauseExec:
		c.exec()
	}
	th := c.last
	if th == nil || th.id != s.Thread {
		if th = c.threads[s.Thread]; th == nil {
			th = c.begin(s)
		}
		c.last = th
	}
	now := stateOf(s.Regs)
	switch s.Cause {
	case stepall.CauseDone:
		c.report.Instructions++
		th.learn(now.pc)
		th.step(th.place.in, &now)
		if th.place.in.class == syscall {
			c.afterSyscall(&th.regs)
		}
	case stepall.CauseSignal:
		c.report.Signals++
		interrupted := th.regs
		if pc, _ := interrupted.Get(arch.RIP); th.place.in.class == trapItself && s.Signal == sigTrap {
			interrupted.Set(arch.RIP, pc+1) // a trap is reported after the instruction
		}
		th.signalled(&interrupted, &now)
	}
	before := th.place
	th.regs = *s.Regs
	th.place = c.place(now.pc)
	right := c.report.Correct
	c.judge(th, c.depth(th, before, s.Cause))
	c.sample(th, right)
	if c.opts.Progress != nil && c.report.Instructions%4096 == 0 {
		c.opts.Progress(c.report.Instructions, c.report.Wrong)
	}
	return c.next(th)
}

// next returns how the thread continues.
func (c *checker) next(th *checked) stepall.Next {
	n := stepall.Next{Stop: c.opts.Max > 0 && c.report.Instructions >= c.opts.Max}
	switch th.place.in.class {
	case syscall:
		n.Instruction = stepall.Syscall
	case pushFlags:
		n.Instruction = stepall.Pushf
	case trapItself:
		n.Instruction = stepall.Trap
	default:
		if !c.opts.Plodding {
			c.usePrediction(th, &n)
		}
	}
	if e := c.opts.SignalEvery; e > 0 && c.handled && c.report.Instructions > 0 && c.report.Instructions%e == 0 {
		n.Signal = c.opts.Signal
	}
	return n
}

const sigTrap = 5

// How many callers are compared.
const (
	oneCaller  = 1
	twoCallers = 2
	wholeWalk  = 1 << 30

	wholeEvery = 1000 // instructions between two comparisons of the whole walk
)

func (c *checker) depth(th *checked, before *place, cause stepall.Cause) int {
	switch {
	case c.opts.Source != "":
		return oneCaller
	case cause == stepall.CauseSignal, c.report.Instructions%wholeEvery == 0:
		return wholeWalk
	case before != nil && before.in.class == call:
		return twoCallers
	}
	return oneCaller
}

// begin adds a thread.
func (c *checker) begin(s *stepall.Step) *checked {
	th := &checked{thread: *c.shadow.newThread(stateOf(s.Regs)), id: s.Thread}
	th.walk = c.unwinder.Walk(s.Regs)
	th.walk.KeepRefused = true
	c.threads[s.Thread] = th
	if s.Cause != stepall.CauseExec {
		c.report.Threads++
	}
	return th
}

// end removes a thread.
func (c *checker) end(id target.ThreadID) {
	if th := c.threads[id]; th != nil {
		th.exit(refuted)
		delete(c.threads, id)
	}
	c.last = nil
}

// refresh reads the memory map again. If the process is ending, the old map is kept.
func (c *checker) refresh() { _ = c.space.Refresh() }

// exec starts again with the process's new program.
func (c *checker) exec() {
	for id := range c.threads {
		c.end(id)
	}
	for _, s := range c.shadow.suspended {
		c.shadow.abandon(s)
	}
	c.shadow.suspended = nil
	c.freeze()
	c.places = places{pages: map[uint64]*[pageSize]*place{}}
	c.space.Forget()
	c.refresh()
	c.newUnwinder()
	c.handled = false
	c.report.Execs++
}

// Numbers of system calls (their first arguments are RDI, RSI and RDX), and PROT_EXEC.
const (
	sysMmap      = 9
	sysMprotect  = 10
	sysMunmap    = 11
	sysSigaction = 13
	sysMremap    = 25
	sysShmat     = 30
	sysShmdt     = 67
	sysPkey      = 329 // pkey_mprotect
	protExec     = 4
)

// afterSyscall handles system calls that change the mappings of code, or the handler of the signal
// that will be sent. regs holds the registers before the call.
func (c *checker) afterSyscall(regs *arch.Registers) {
	nr, _ := regs.Get(arch.RAX)
	lo, _ := regs.Get(arch.RDI)
	size, _ := regs.Get(arch.RSI)
	prot, _ := regs.Get(arch.RDX)
	switch nr {
	case sysMmap, sysMprotect, sysPkey:
		if prot&protExec == 0 && !c.touches(lo, size) {
			return
		}
	case sysMunmap, sysMremap:
		if !c.touches(lo, size) {
			return
		}
	case sysSigaction:
		const sigIgn = 1
		if lo == uint64(c.opts.Signal) && size != 0 {
			f, ok := c.word(size)
			c.handled = ok && f > sigIgn
		}
		return
	case sysShmat, sysShmdt:
		lo, size = 0, 0
	default:
		return
	}
	c.refresh()
	if lo == 0 || nr == sysMremap {
		lo, size = 0, 1<<63
	}
	c.places.forget(lo, lo+max(size, 1))
}

// touches reports whether a range of memory overlaps code or a module.
func (c *checker) touches(lo, size uint64) bool {
	a, b := target.Addr(lo), target.Addr(lo+size)
	for _, m := range c.space.Mappings() {
		if m.Exec == target.Allowed && m.Lo < b && a < m.Hi {
			return true
		}
	}
	for _, im := range c.space.Images() {
		if im.Lo < b && a < im.Hi {
			return true
		}
	}
	return false
}

// wanted reports whether a place is in a file and a function that will be judged.
func (c *checker) wanted(pl *place) bool {
	if c.opts.Functions == "" && c.opts.Module == "" {
		return true
	}
	if pl.module == nil {
		return false
	}
	if c.opts.Module != "" {
		if ok, _ := matchName(c.opts.Module, pl.module.name()); !ok {
			return false
		}
		if c.opts.Functions == "" {
			return true
		}
	}
	name, _ := pl.module.function(pl.pc)
	ok, _ := matchName(c.opts.Functions, name)
	return ok
}

// matchName is path.Match, except that a slash in a name is an ordinary character.
func matchName(pattern, name string) (bool, error) {
	return path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(name, "/", "\x00"))
}
