// Package scripted is a target for tests of the packages that use targets. The test specifies its
// threads, what they do and in which order. So a race that was once found in a real process becomes
// a test that always runs in the same way.
//
// It provides a target.Process. The test calls Hit, Finish, Exit and Die for the events that the
// kernel would report. With Before, the test lets something happen in the middle of a call from the
// session. Calls lists the calls that the session made.
//
// It executes nothing: the test sets the registers of threads and the contents of memory.
package scripted

import (
	"fmt"
	"slices"
	"sync"

	"dbg/arch"
	"dbg/target"
)

// Process is a scripted process. Its methods may be called from any goroutine.
type Process struct {
	lock    sync.Mutex // guards all fields below
	threads []*thread
	memory  map[target.Addr]byte
	sites   map[target.Addr]int
	watches map[target.Watch]int
	judge   target.Judge
	running bool
	over    bool
	serial  uint64
	pending []*thread // threads with a hit that was not judged, or a stop that was not reported
	before  map[string]func()
	calls   []string
	blocked map[target.Addr]*block

	events chan target.Event
	queue  chan target.Event
	gone   chan struct{}
	once   sync.Once
}

type thread struct {
	id     target.ThreadID
	regs   arch.Registers
	reason target.StopReason // why it is parked or pending
	parked bool
	serial uint64
}

var _ target.Process = (*Process)(nil)

// New makes a stopped process with threads 1 to n.
func New(n int) *Process {
	p := &Process{
		memory: map[target.Addr]byte{}, sites: map[target.Addr]int{}, before: map[string]func(){}, blocked: map[target.Addr]*block{},
		events: make(chan target.Event), queue: make(chan target.Event, 1000), gone: make(chan struct{}),
	}
	for i := range n {
		t := &thread{id: target.ThreadID(i + 1), regs: arch.Registers{Arch: arch.AMD64}}
		t.regs.Set(arch.RIP, 0x1000)
		t.regs.Set(arch.RSP, 0x7000)
		p.threads = append(p.threads, t)
	}
	go func() {
		defer close(p.events)
		for ev := range p.queue {
			select {
			case p.events <- ev:
			case <-p.gone:
			}
		}
	}()
	return p
}

// Before runs f once, when the named method (Move, StopAll, Resume, ...) is called next, before the
// method does anything.
func (p *Process) Before(method string, f func()) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.before[method] = f
}

// Block makes the next read of memory at an address wait until release is called. The channel
// reading is closed when the read has started.
func (p *Process) Block(a target.Addr) (reading <-chan struct{}, release func()) {
	p.lock.Lock()
	defer p.lock.Unlock()
	b := &block{reading: make(chan struct{}), released: make(chan struct{})}
	p.blocked[a] = b
	return b.reading, sync.OnceFunc(func() { close(b.released) })
}

// block is a read that waits.
type block struct{ reading, released chan struct{} }

// SetRegisterOf sets the value of a thread's register.
func (p *Process) SetRegisterOf(t target.ThreadID, r arch.Reg, v uint64) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.find(t).regs.Set(r, v)
}

// Calls returns the calls since the last call of Calls: "Resume", "Move 2", "StopAll 1",
// "Interrupt", "Kill", "Detach".
func (p *Process) Calls() []string {
	p.lock.Lock()
	defer p.lock.Unlock()
	c := p.calls
	p.calls = nil
	return c
}

// Sites returns the addresses of the sites in rising order.
func (p *Process) Sites() []target.Addr {
	p.lock.Lock()
	defer p.lock.Unlock()
	var out []target.Addr
	for a := range p.sites {
		out = append(out, a)
	}
	slices.Sort(out)
	return out
}

// Hit lets a thread arrive at a site. If the process is stopped, the hit stays pending, as for a
// thread that reached the site while the process was being stopped.
func (p *Process) Hit(t target.ThreadID, a target.Addr) { p.arrive(t, a, target.Breakpoint) }

// Finish lets a thread end its step at an address.
func (p *Process) Finish(t target.ThreadID, a target.Addr) { p.arrive(t, a, target.Stepped) }

func (p *Process) arrive(id target.ThreadID, a target.Addr, reason target.StopReason) {
	p.lock.Lock()
	t := p.find(id)
	t.regs.Set(arch.RIP, uint64(a))
	t.reason = reason
	if !p.running {
		p.pending = append(p.pending, t)
		p.lock.Unlock()
		return
	}
	p.lock.Unlock()
	p.decide(t)
}

// decide calls the judge. It does not hold the lock then, since the judge may call the Process. It
// reports whether the process was stopped.
func (p *Process) decide(t *thread) (stopped bool) {
	p.lock.Lock()
	judge := p.judge
	regs := t.regs
	p.lock.Unlock()
	verdict := target.Halt
	if judge != nil {
		pc, _ := regs.PC()
		verdict = judge(&target.Hit{Thread: t.id, Reason: t.reason, Addr: target.Addr(pc), Regs: &regs, Next: target.Resume{Thread: t.id}})
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	pc, _ := t.regs.PC()
	switch {
	case p.over || verdict == target.Pass:
	case verdict == target.Park && p.running:
		p.serial++
		t.parked, t.serial = true, p.serial
		p.send(target.Event{Kind: target.Parked, Thread: t.id, Reason: t.reason, Addr: target.Addr(pc), Serial: t.serial})
	case !p.running:
		p.pending = append(p.pending, t)
	default:
		p.stop(target.Event{Kind: target.Stopped, Thread: t.id, Reason: t.reason, Addr: target.Addr(pc)}, t)
		return true
	}
	return false
}

// stop ends the run. Parked threads become pending, and the next Resume judges them again.
func (p *Process) stop(e target.Event, of *thread) {
	p.running = false
	for _, t := range p.threads {
		if t.parked {
			t.parked = false
			if t != of && t.reason == target.Breakpoint {
				p.pending = append(p.pending, t)
			}
		}
	}
	p.send(e)
}

// Exit ends the process with an exit status.
func (p *Process) Exit(code int) { p.end(target.Event{Kind: target.Exited, ExitCode: code}) }

// Die ends the process with a signal.
func (p *Process) Die(sig int) {
	p.end(target.Event{Kind: target.Killed, Signal: &target.SignalInfo{Number: sig}})
}

func (p *Process) end(e target.Event) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if !p.over {
		p.over, p.running = true, false
		e.Thread = p.threads[0].id
		p.send(e)
		close(p.queue)
	}
}

func (p *Process) send(e target.Event) { p.queue <- e }

func (p *Process) find(id target.ThreadID) *thread {
	for _, t := range p.threads {
		if t.id == id {
			return t
		}
	}
	return nil
}

// call records a call, and runs the function that Before set for it.
func (p *Process) call(method string, arg any) {
	p.lock.Lock()
	f := p.before[method]
	delete(p.before, method)
	if arg != nil {
		p.calls = append(p.calls, fmt.Sprint(method, " ", arg))
	} else {
		p.calls = append(p.calls, method)
	}
	p.lock.Unlock()
	if f != nil {
		f()
	}
}

// Events implements target.Process.
func (p *Process) Events() <-chan target.Event { return p.events }

// Resume implements target.Process.
func (p *Process) Resume(r target.Resume) error {
	p.call("Resume", nil)
	p.lock.Lock()
	switch {
	case p.over:
		p.lock.Unlock()
		return target.ErrGone
	case p.running:
		p.lock.Unlock()
		return target.ErrRunning
	}
	p.running = true
	pending := p.pending
	p.pending = nil
	p.lock.Unlock()
	for i, t := range pending {
		if p.decide(t) {
			p.lock.Lock()
			p.pending = append(p.pending, pending[i+1:]...)
			p.lock.Unlock()
			break
		}
	}
	return nil
}

// Interrupt implements target.Process.
func (p *Process) Interrupt() error {
	p.call("Interrupt", nil)
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.over {
		return target.ErrGone
	}
	if p.running {
		p.stop(target.Event{Kind: target.Stopped, Thread: p.threads[0].id, Reason: target.Interrupted}, nil)
	}
	return nil
}

// unpark returns a parked thread of the running process. The thread is no longer parked.
func (p *Process) unpark(id target.ThreadID) (*thread, error) {
	t := p.find(id)
	switch {
	case p.over:
		return nil, target.ErrGone
	case !p.running:
		return nil, target.ErrNotRunning
	case t == nil || !t.parked:
		return nil, target.ErrNoThread
	}
	t.parked = false
	return t, nil
}

// Move implements target.Process.
func (p *Process) Move(r target.Resume) error {
	p.call("Move", r.Thread)
	p.lock.Lock()
	defer p.lock.Unlock()
	_, err := p.unpark(r.Thread)
	return err
}

// StopAll implements target.Process.
func (p *Process) StopAll(id target.ThreadID) error {
	p.call("StopAll", id)
	p.lock.Lock()
	defer p.lock.Unlock()
	t, err := p.unpark(id)
	if err == nil {
		pc, _ := t.regs.PC()
		p.stop(target.Event{Kind: target.Stopped, Thread: id, Reason: t.reason, Addr: target.Addr(pc)}, t)
	}
	return err
}

// ParkedAs implements target.Process.
func (p *Process) ParkedAs(id target.ThreadID) uint64 {
	p.lock.Lock()
	defer p.lock.Unlock()
	if t := p.find(id); t != nil && t.parked && p.running && !p.over {
		return t.serial
	}
	return 0
}

// SetJudge implements target.Process.
func (p *Process) SetJudge(j target.Judge) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.judge = j
}

// InsertBreakpoint implements target.Process.
func (p *Process) InsertBreakpoint(a target.Addr) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.sites[a]++
	return nil
}

// RemoveBreakpoint implements target.Process.
func (p *Process) RemoveBreakpoint(a target.Addr) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.sites[a]--; p.sites[a] <= 0 {
		delete(p.sites, a)
	}
	return nil
}

// InsertWatch implements target.Process. Watches take four slots, as on x86-64. They never fire.
func (p *Process) InsertWatch(w target.Watch) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	if _, ok := p.watches[w]; !ok && len(p.watches) == 4 {
		return target.ErrNoSlot
	}
	if p.watches == nil {
		p.watches = map[target.Watch]int{}
	}
	p.watches[w]++
	return nil
}

// RemoveWatch implements target.Process.
func (p *Process) RemoveWatch(w target.Watch) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.watches[w]--; p.watches[w] <= 0 {
		delete(p.watches, w)
	}
	return nil
}

// CatchEvents and CatchSyscalls implement target.Process. No such event ever happens.
func (p *Process) CatchEvents(target.EventSet)           {}
func (p *Process) CatchSyscalls(target.SyscallSet) error { return nil }

// SetSignalPolicy implements target.Process.
func (p *Process) SetSignalPolicy(int, target.SignalPolicy) {}

// Detach implements target.Process.
func (p *Process) Detach() error {
	p.call("Detach", nil)
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.over {
		return target.ErrGone
	}
	p.over, p.running = true, false
	close(p.queue)
	return nil
}

// Kill implements target.Process.
func (p *Process) Kill() error {
	p.call("Kill", nil)
	p.Die(9)
	return nil
}

// Close implements target.Target.
func (p *Process) Close() error {
	p.once.Do(func() { close(p.gone) })
	p.lock.Lock()
	defer p.lock.Unlock()
	if !p.over {
		p.over, p.running = true, false
		close(p.queue)
	}
	return nil
}

// ReadMemory implements target.Memory.
func (p *Process) ReadMemory(a target.Addr, buf []byte) (int, error) {
	p.lock.Lock()
	b := p.blocked[a]
	delete(p.blocked, a)
	p.lock.Unlock()
	if b != nil {
		close(b.reading)
		<-b.released
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	for i := range buf {
		b, ok := p.memory[a+target.Addr(i)]
		if !ok {
			return i, &target.MemoryError{Addr: a + target.Addr(i), Why: "not mapped"}
		}
		buf[i] = b
	}
	return len(buf), nil
}

// WriteMemory implements target.Target.
func (p *Process) WriteMemory(a target.Addr, data []byte) (int, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	for i, b := range data {
		p.memory[a+target.Addr(i)] = b
	}
	return len(data), nil
}

// Arch, Kind, PID and Exe implement target.Target.

func (p *Process) Arch() *arch.Arch  { return arch.AMD64 }
func (p *Process) Kind() target.Kind { return target.Attached }
func (p *Process) PID() int          { return 1 << 30 }
func (p *Process) Exe() string       { return "" }

// Threads implements target.Target.
func (p *Process) Threads() []target.Thread {
	p.lock.Lock()
	defer p.lock.Unlock()
	var out []target.Thread
	for _, t := range p.threads {
		out = append(out, target.Thread{ID: t.id})
	}
	return out
}

// Registers implements target.Target.
func (p *Process) Registers(id target.ThreadID) (arch.Registers, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	t := p.find(id)
	if t == nil {
		return arch.Registers{}, target.ErrNoThread
	}
	return t.regs, nil
}

// WideRegister implements target.Target.
func (p *Process) WideRegister(target.ThreadID, arch.Reg) ([]byte, error) {
	return nil, target.ErrNoRegister
}

// SetRegister implements target.Target.
func (p *Process) SetRegister(id target.ThreadID, r arch.Reg, v uint64) error {
	p.SetRegisterOf(id, r, v)
	return nil
}

// Mappings implements target.Target.
func (p *Process) Mappings() ([]target.Mapping, error) { return nil, nil }

// Auxv implements target.Target.
func (p *Process) Auxv(uint64) (uint64, bool) { return 0, false }

// SaveState implements target.Process: a scripted thread has general registers only.
func (p *Process) SaveState(id target.ThreadID) (*target.SavedState, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	t := p.find(id)
	if t == nil {
		return nil, target.ErrNoThread
	}
	b := make([]byte, target.AMD64UserRegsSize)
	s := &target.SavedState{General: b, Signal: t.regs}
	for _, r := range arch.AMD64.User {
		if v, ok := t.regs.Get(r); ok && r != arch.NoReg {
			s.SetGeneral(r, v)
		}
	}
	return s, nil
}

// RestoreState implements target.Process.
func (p *Process) RestoreState(id target.ThreadID, s *target.SavedState) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	t := p.find(id)
	if t == nil {
		return target.ErrNoThread
	}
	target.SetUser(&t.regs, s.General)
	return nil
}
