package remote_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dbg/arch"
	"dbg/frames"
	"dbg/frames/remote"
	"dbg/target"
)

// answering is a task that a client drives.
type answering interface{ Next() remote.State }

// client answers the needs of a Memory from a target, later and in the order that it likes.
type client struct {
	t       testing.TB
	of      target.Memory
	mem     *remote.Memory
	rand    *rand.Rand // nil: it answers everything at once, in order
	pending []remote.Need
	refuse  bool // it answers that no memory is readable
	rounds  int  // of answers
}

// answer answers what is pending: all, or with rand a random part in random order, of which some is torn
// or fails for now.
func (c *client) answer() {
	c.pending = append(c.pending, c.mem.Needs()...)
	c.rounds++
	if c.rand == nil {
		for _, n := range c.pending {
			c.send(n.Addr, n.Size)
		}
		c.pending = nil
		return
	}
	c.rand.Shuffle(len(c.pending), func(i, j int) { c.pending[i], c.pending[j] = c.pending[j], c.pending[i] })
	now := 1 + c.rand.IntN(max(len(c.pending), 1))
	for _, n := range c.pending[:min(now, len(c.pending))] {
		switch c.rand.IntN(8) {
		case 0:
			c.mem.Retry(n.Addr, n.Size)
		case 1: // in three parts, the last one first, two of which overlap
			a := 1 + c.rand.IntN(n.Size-1)
			c.send(n.Addr+target.Addr(a), n.Size-a)
			c.send(n.Addr, a/2)
			c.send(n.Addr+target.Addr(a/3), a-a/3)
		case 2: // a part, and the rest is lost
			c.send(n.Addr, 1+c.rand.IntN(n.Size))
			c.mem.Retry(n.Addr, n.Size)
		default:
			c.send(n.Addr, n.Size)
			c.send(n.Addr, n.Size) // twice
		}
	}
	c.pending = c.pending[min(now, len(c.pending)):]
}

// send answers a range as a target does: page by page what is readable, and what is not.
func (c *client) send(addr target.Addr, size int) {
	const page = 4096
	for size > 0 {
		buf := make([]byte, min(size, page-int(addr%page)))
		n := 0
		if !c.refuse {
			n, _ = c.of.ReadMemory(addr, buf)
		}
		if err := errors.Join(c.mem.Supply(addr, buf[:n]), c.mem.Unreadable(addr+target.Addr(n), len(buf)-n)); err != nil {
			c.t.Fatal(err)
		}
		addr, size = addr+target.Addr(len(buf)), size-len(buf)
	}
}

// run drives tasks until all have ended, and calls found for each frame.
func (c *client) run(tasks []answering, found func(i int)) {
	ended := make([]bool, len(tasks))
	for range 1_000_000 {
		left, moved := 0, false
		for i, task := range tasks {
			for !ended[i] {
				state := task.Next()
				if state == remote.Waiting {
					left++
					break
				}
				moved = true
				if ended[i] = state == remote.Ended; !ended[i] {
					found(i)
				}
			}
		}
		if left == 0 {
			return
		}
		before := c.mem.Stats().Rounds
		if c.answer(); c.rand == nil && !moved && c.mem.Stats().Rounds == before {
			c.t.Fatalf("%d tasks wait and nothing is wanted", left)
		}
	}
	c.t.Fatal("the tasks do not end")
}

// open opens the process of a target.
func (c *client) open(p *remote.Process) {
	c.t.Helper()
	task := p.Open(context.Background())
	c.run([]answering{task}, nil)
	if err := task.Err(); err != nil {
		c.t.Fatal(err)
	}
}

// stackOf is a walk's result.
type stackOf struct {
	frames []*frames.Frame
	end    frames.End
	waits  int
}

// synchronous walks the stack of each thread, with the target's own memory.
func synchronous(t testing.TB, tgt target.Target, regs []arch.Registers,
	opt frames.AddressSpaceOptions) (list []stackOf) {
	t.Helper()
	space, err := frames.NewAddressSpace(tgt, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { space.Close() })
	u := frames.New(tgt.Arch(), space)
	for i := range regs {
		var s stackOf
		w := u.Walk(&regs[i])
		for f := range w.Frames(context.Background()) {
			s.frames = append(s.frames, f.Clone())
		}
		s.end = w.End()
		list = append(list, s)
	}
	return list
}

// asynchronous walks the stack of each thread, all at the same time.
func (c *client) asynchronous(p *remote.Process, regs []arch.Registers) []stackOf {
	list := make([]stackOf, len(regs))
	var tasks []answering
	var walks []*remote.Walk
	for i := range regs {
		w := p.Walk(context.Background(), &regs[i], 0)
		tasks, walks = append(tasks, w), append(walks, w)
	}
	c.run(tasks, func(i int) { list[i].frames = append(list[i].frames, walks[i].Frame().Clone()) })
	for i, w := range walks {
		if w.Err() != nil {
			c.t.Errorf("thread %d: %v", i, w.Err())
		}
		list[i].end, list[i].waits = w.End(), w.Waits()
	}
	return list
}

// differ describes the first difference of two stacks, or returns "".
func differ(got, want stackOf) string {
	for i, w := range want.frames {
		if i >= len(got.frames) {
			return fmt.Sprintf("%d frames, want %d; %s", len(got.frames), len(want.frames), got.end.Message())
		}
		g := got.frames[i]
		if g.PC != w.PC || g.Regs != w.Regs || g.CFA != w.CFA || g.HasCFA != w.HasCFA || g.Signal != w.Signal ||
			g.PCIsReturnAddress != w.PCIsReturnAddress || g.Strategy != w.Strategy || g.Trust != w.Trust {
			return fmt.Sprintf("frame %d: %v by %v (%v), want %v by %v (%v)", i,
				g.PC, g.Strategy, g.Trust, w.PC, w.Strategy, w.Trust)
		}
		if (g.Module == nil) != (w.Module == nil) || g.Module != nil && g.Module.Name() != w.Module.Name() {
			return fmt.Sprintf("frame %d: another module", i)
		}
		for r := range arch.Reg(64) {
			p, a := g.Where(r)
			if q, b := w.Where(r); p != q || a != b || g.RegisterTrust(r) != w.RegisterTrust(r) {
				return fmt.Sprintf("frame %d: register %d is in %v at %v, want %v at %v", i, r, p, a, q, b)
			}
		}
		how := func(a, b frames.Attempt) bool { return a.Strategy == b.Strategy }
		if !slices.EqualFunc(g.Attempts, w.Attempts, how) {
			return fmt.Sprintf("frame %d: attempts %v, want %v", i, g.Attempts, w.Attempts)
		}
	}
	if len(got.frames) != len(want.frames) || got.end.Reason != want.end.Reason ||
		got.end.Outermost != want.end.Outermost {
		return fmt.Sprintf("%d frames, %s, want %d, %s",
			len(got.frames), got.end.Message(), len(want.frames), want.end.Message())
	}
	return ""
}

// newProcess makes a process of a target, whose memory is asked for.
func newProcess(t testing.TB, tgt target.Target, opt remote.Options,
	files frames.AddressSpaceOptions) (*remote.Process, *client) {
	t.Helper()
	maps, err := tgt.Mappings()
	if err != nil {
		t.Fatal(err)
	}
	mem := remote.NewMemory(opt)
	p := remote.NewProcess(remote.Config{Arch: tgt.Arch(), Mappings: maps, Auxv: tgt.Auxv, Files: files}, mem)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p, &client{t: t, of: tgt, mem: mem}
}

// registersOf reads the registers of all threads.
func registersOf(t testing.TB, tgt target.Target) (list []arch.Registers) {
	t.Helper()
	for _, th := range tgt.Threads() {
		r, err := tgt.Registers(th.ID)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}
