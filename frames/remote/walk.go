package remote

import (
	"context"
	"runtime"

	"dbg/arch"
	"dbg/frames"
	"dbg/target"
)

// redZone is the memory below the stack pointer that a function may use: 128 bytes on x86-64. Walks look
// at it, because the return address of a function that has returned is just there.
const redZone = 128

// walkResources are an Unwinder and its view of the process. Walks use them one after the other.
type walkResources struct {
	view     view
	unwinder *frames.Unwinder
}

// Walk is a walk along the frames of a thread, which stops where memory is missing. It belongs to one
// goroutine. A walk that is no longer wanted should be closed, or its context should end.
type Walk struct {
	Task
	out *walkResult
}

// walkResult is the result of a walk.
type walkResult struct {
	frame *frames.Frame
	end   frames.End
	waits int
	res   *walkResources // while the walk is under way
}

// Walk prepares a walk from these registers, and asks for the stack. The process must be open. depth limits
// the number of frames; 0 means the limit of the Unwinder.
func (p *Process) Walk(ctx context.Context, regs *arch.Registers, depth int) *Walk {
	start, out := *regs, &walkResult{}
	p.walkMu.Lock()
	p.tasks++
	p.walkMu.Unlock()
	r := newRoutine(ctx, p.mem, func(r *routine) error {
		if !p.isOpen {
			return errNotOpen
		}
		for out.res = p.take(); out.res == nil; out.res = p.take() {
			r.need = 0 // memory is not what is missing
			r.pause(Waiting)
		}
		return out.follow(r, &start, depth)
	}, func(ok bool) {
		p.giveBack(out.res, ok)
		out.res = nil
		p.ended()
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isOpen {
		p.wantStart(&start)
	}
	w := &Walk{Task: Task{p: p, r: r}, out: out}
	runtime.AddCleanup(w, func(r *routine) { r.cancel(ErrClosed) }, r)
	return w
}

// follow yields the frames.
func (out *walkResult) follow(r *routine, regs *arch.Registers, depth int) error {
	v := &out.res.view
	v.routine, v.waits, v.ahead, v.scanned = r, 0, r.mem.opt.Ahead, 0
	walk := out.res.unwinder.Walk(regs)
	n := 0
	for f, err := range walk.Frames(r.ctx) {
		if err != nil {
			return context.Cause(r.ctx)
		}
		out.frame, out.waits = f, v.waits
		r.pause(Found)
		if n++; n == depth {
			break
		}
	}
	out.frame, out.end, out.waits = nil, walk.End(), v.waits
	return nil
}

// Frame returns the frame that Next has found. It is valid until the next call of Next; Frame.Clone makes a
// lasting copy. It is nil in any other state.
func (w *Walk) Frame() *frames.Frame {
	if w.state != Found {
		return nil
	}
	return w.out.frame
}

// End returns the reason for the walk's end. It is complete when Next has returned Ended, Err returns nil,
// and the depth limit was not reached.
func (w *Walk) End() frames.End {
	if w.state != Ended {
		return frames.End{}
	}
	return w.out.end
}

// Waits returns how often the walk has had to wait for memory until the last frame or the end.
func (w *Walk) Waits() int { return w.out.waits }

// Next works until the next frame, until memory is missing, or until the end.
func (w *Walk) Next() State {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	if w.state == Ended || w.state == Waiting && w.started && w.r.ctx.Err() == nil && w.r.need > 0 && !w.r.ready() {
		return w.state
	}
	w.started = true
	w.state = w.r.step()
	return w.state
}

// take returns resources for a walk, or nil if MaxWalks are under way.
func (p *Process) take() *walkResources {
	p.walkMu.Lock()
	defer p.walkMu.Unlock()
	if p.walks >= p.cfg.MaxWalks {
		return nil
	}
	p.walks++
	if n := len(p.spare); n > 0 {
		res := p.spare[n-1]
		p.spare = p.spare[:n-1]
		return res
	}
	res := &walkResources{}
	res.view.p = p
	res.unwinder = frames.New(p.cfg.Arch, &res.view)
	if p.cfg.Configure != nil {
		p.cfg.Configure(res.unwinder)
	}
	return res
}

// giveBack returns the resources of a walk. Those of an aborted walk are not used again: its Unwinder may
// hold half a fact.
func (p *Process) giveBack(res *walkResources, ok bool) {
	if res == nil {
		return
	}
	p.walkMu.Lock()
	defer p.walkMu.Unlock()
	p.walks--
	res.view.routine = nil
	if ok {
		p.spare = append(p.spare, res)
	}
}

// view is the address space as one walk sees it. It implements frames.Space.
type view struct {
	p       *Process
	routine *routine
	waits   int
	ahead   int    // pages to ask for at the next stack read
	scanned uint64 // words of the stack below this address were searched for code
}

func (v *view) FindModule(pc target.Addr) *frames.Module { return v.p.space.FindModule(pc) }
func (v *view) Executable(addr target.Addr) bool         { return v.p.space.Executable(addr) }
func (v *view) Version() uint64                          { return v.p.space.Version() }

// ReadMemory implements target.Memory. What files have comes from there, the rest page by page.
func (v *view) ReadMemory(addr target.Addr, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		at := addr + target.Addr(n)
		if got := v.p.fromFile(at, buf[n:]); got > 0 {
			n += got
			continue
		}
		part := v.p.mappedPart(at, len(buf)-n)
		if part == 0 {
			return n, notMapped(at)
		}
		if part = min(part, pageSize-int(at%pageSize)); part < len(buf)-n {
			v.p.mem.want(at, uint64(v.p.mappedPart(at, min(len(buf)-n, mostAhead*pageSize))), ahead, 0)
		}
		var got int
		got, err = v.read(at, buf[n:n+part], part)
		n += got
	}
	return n, err
}

func notMapped(addr target.Addr) error { return &target.MemoryError{Addr: addr, Why: "not mapped"} }

func (v *view) read(addr target.Addr, buf []byte, need int) (int, error) {
	if _, missing, _ := v.routine.mem.read(addr, buf, need); missing {
		v.waits++
	}
	return v.routine.read(addr, buf, need)
}

// ReadAhead implements frames.AheadReader: it reads the stack.
func (v *view) ReadAhead(addr target.Addr, buf []byte, need int) (int, error) {
	if need = v.p.mappedPart(addr, need); need == 0 {
		return 0, notMapped(addr)
	}
	if _, missing, _ := v.routine.mem.read(addr, buf, need); missing {
		v.p.wantStack(addr, v.ahead)
		v.ahead = min(2*v.ahead, mostAhead)
	}
	n, err := v.read(addr, buf, need)
	v.p.wantCode(addr, buf[:n], &v.scanned)
	return n, err
}
