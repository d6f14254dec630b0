//go:build linux && amd64

package remote_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dbg/arch"
	"dbg/frames"
	"dbg/frames/remote"
	"dbg/image"
	"dbg/target"
)

// deepProgram opens a core with several threads of about 70 frames.
func deepProgram(t *testing.T) (target.Target, []arch.Registers, []stackOf) {
	t.Helper()
	tgt := openProgram(t, "remote/waits.cc", []string{"-O1"}, []string{"6", "11", "dies"}, false)
	regs := registersOf(t, tgt)
	return tgt, regs, synchronous(t, tgt, regs, frames.AddressSpaceOptions{})
}

// goroutines waits until there are at most so many goroutines.
func goroutines(t *testing.T, most int) {
	t.Helper()
	for range 400 {
		runtime.GC() // an abandoned walk ends when it is collected
		if runtime.NumGoroutine() <= most {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	buf := make([]byte, 1<<16)
	t.Errorf("%d goroutines, want %d\n%s", runtime.NumGoroutine(), most, buf[:runtime.Stack(buf, true)])
}

// withoutProgram leaves the program's own file out: its code is read from memory, and the frames come from
// that code.
var withoutProgram = frames.AddressSpaceOptions{Open: func(m *frames.Mapped) (f, debug *image.File, err error) {
	if strings.Contains(m.Path, "waits") {
		return nil, nil, errors.New("left out")
	}
	f, err = image.Open(m.Path)
	return f, nil, err
}}

// TestCancel ends walks at each of their steps, in each way. No goroutine stays, and other walks of the
// process are not affected.
func TestCancel(t *testing.T) {
	tgt, regs, _ := deepProgram(t)
	want := synchronous(t, tgt, regs, withoutProgram)
	cause := errors.New("no longer wanted")
	for _, way := range []string{"close", "cancel", "abandon"} {
		t.Run(way, func(t *testing.T) {
			// One page after the other: walks wait for slots and for code, too.
			p, client := newProcess(t, tgt, remote.Options{Ahead: 1, MaxOutstanding: 1}, withoutProgram)
			client.open(p)
			before := runtime.NumGoroutine()
			deep := slices.IndexFunc(want, func(s stackOf) bool { return len(s.frames) > 30 })
			for steps := range 60 {
				ctx, cancel := context.WithCancelCause(context.Background())
				w := p.Walk(ctx, &regs[deep], 0)
				state := remote.Waiting
				for i := range steps {
					if state = w.Next(); state == remote.Waiting && i%2 == 0 {
						client.answer()
					}
				}
				if state == remote.Ended {
					if cancel(cause); steps < 30 {
						t.Fatalf("the walk has only %d steps", steps)
					}
					break
				}
				switch way {
				case "close":
					w.Close()
					if w.Next() != remote.Ended || w.Frame() != nil || !errors.Is(w.Err(), remote.ErrClosed) {
						t.Fatalf("after %d steps: %v, %v", steps, w.Next(), w.Err())
					}
				case "cancel":
					cancel(cause)
					goroutines(t, before) // without any call of the walk
					if w.Next() != remote.Ended || !errors.Is(w.Err(), cause) {
						t.Fatalf("after %d steps: %v, %v", steps, w.Next(), w.Err())
					}
				}
				if w = nil; way == "abandon" && steps%8 == 0 {
					goroutines(t, before)
				}
				client.mem.Forget() // so that the next walk waits, too
				client.pending = nil
				cancel(cause)
			}
			goroutines(t, before)
			for i, got := range client.asynchronous(p, regs) {
				if diff := differ(got, want[i]); diff != "" {
					t.Errorf("thread %d: %s", i, diff)
				}
			}
		})
	}
}

// TestCancelOpen ends the opening of a process while it waits: the files that it has opened are closed.
func TestCancelOpen(t *testing.T) {
	tgt, _, _ := deepProgram(t)
	cache := frames.NewModuleCache(0)
	defer cache.Close()
	p, client := newProcess(t, tgt, remote.Options{}, frames.AddressSpaceOptions{Cache: cache})
	task := p.Open(context.Background())
	if task.Next() != remote.Waiting {
		t.Fatal("it does not wait")
	}
	vdso, ok := tgt.Auxv(33) // AT_SYSINFO_EHDR
	if !ok {
		t.Fatal("no vDSO")
	}
	for range 100 { // all but the vDSO, which is read last, after the files were opened
		for _, n := range client.mem.Needs() {
			for _, m := range mappingsOf(t, tgt) {
				for at := n.Addr; at < n.Addr+target.Addr(n.Size); at += 4096 {
					if m.Lo <= at && at < m.Hi && m.Lo != target.Addr(vdso) {
						client.send(at, 4096)
					}
				}
			}
		}
		task.Next()
	}
	if got := cache.Stats(); got.Open == 0 {
		t.Fatalf("no file is open: %+v", got)
	}
	task.Close()
	if got := cache.Stats(); got.Open != 0 || !errors.Is(task.Err(), remote.ErrClosed) {
		t.Errorf("%+v, %v", got, task.Err())
	}
	w := p.Walk(context.Background(), &arch.Registers{}, 0)
	if w.Next() != remote.Ended || w.Err() == nil {
		t.Errorf("a walk of a process that is not open: %v", w.Err())
	}
}

func mappingsOf(t *testing.T, tgt target.Target) []target.Mapping {
	t.Helper()
	maps, err := tgt.Mappings()
	if err != nil {
		t.Fatal(err)
	}
	return maps
}

// nothing is a target's memory map without its memory.
type nothing struct{ target.Target }

func (nothing) ReadMemory(a target.Addr, _ []byte) (int, error) {
	return 0, &target.MemoryError{Addr: a, Why: "gone"}
}

// TestUnreadable answers after the opening that no memory is readable, as a process that has died does:
// the frames are those of a synchronous walk with such memory, but for code that is in files.
func TestUnreadable(t *testing.T) {
	tgt, regs, _ := deepProgram(t)
	p, client := newProcess(t, tgt, remote.Options{}, frames.AddressSpaceOptions{})
	client.refuse = true
	client.open(p)
	want := synchronous(t, nothing{tgt}, regs, frames.AddressSpaceOptions{})
	for i, got := range client.asynchronous(p, regs) {
		if diff := differ(got, want[i]); diff != "" {
			t.Errorf("thread %d: %s", i, diff)
		}
	}
}

// TestBounds walks with little memory and few requests: the bounds hold, and the stacks are the same.
func TestBounds(t *testing.T) {
	tgt, regs, want := deepProgram(t)
	opt := remote.Options{Ahead: 1, MaxPages: 64, MaxOutstanding: 3}
	p, client := newProcess(t, tgt, opt, frames.AddressSpaceOptions{})
	client.open(p)
	for range 10 {
		for i, got := range client.asynchronous(p, regs) {
			if diff := differ(got, want[i]); diff != "" {
				t.Errorf("thread %d: %s", i, diff)
			}
		}
		mem := client.mem
		for _, im := range p.Space().Images() { // much else is asked for
			mem.Supply(im.Lo+0x100000, make([]byte, 40*4096))
		}
	}
	s := client.mem.Stats()
	if pinned := 2 * len(regs); s.Most > opt.MaxPages+opt.MaxOutstanding+pinned || s.Evicted == 0 {
		t.Errorf("%d pages at once, want at most %d; %d evicted", s.Most, opt.MaxPages, s.Evicted)
	}
	if s.Pages > 3*s.Rounds {
		t.Errorf("%d pages in %d rounds, want at most 3 each", s.Pages, s.Rounds)
	}
}

// TestDepth ends walks at a limit, and gives their resources to the next ones.
func TestDepth(t *testing.T) {
	tgt, regs, want := deepProgram(t)
	p, client := newProcess(t, tgt, remote.Options{}, frames.AddressSpaceOptions{})
	client.open(p)
	for range 30 {
		w := p.Walk(context.Background(), &regs[1], 5)
		n := 0
		client.run([]answering{w}, func(int) {
			if w.Frame().PC != want[1].frames[n].PC {
				t.Errorf("frame %d at %v", n, w.Frame().PC)
			}
			n++
		})
		if n != 5 || w.Err() != nil {
			t.Fatalf("%d frames, %v", n, w.Err())
		}
	}
}

// TestTwoProcesses examines two processes of the same program with one cache: their modules share the tables.
func TestTwoProcesses(t *testing.T) {
	cache := frames.NewModuleCache(10)
	defer cache.Close()
	var spaces []*frames.AddressSpace
	for range 2 {
		tgt := openProgram(t, "remote/waits.cc", []string{"-O1"}, []string{"3"}, true)
		regs := registersOf(t, tgt)
		p, client := newProcess(t, tgt, remote.Options{}, frames.AddressSpaceOptions{Cache: cache})
		client.open(p)
		want := synchronous(t, tgt, regs, frames.AddressSpaceOptions{})
		for i, got := range client.asynchronous(p, regs) {
			if diff := differ(got, want[i]); diff != "" {
				t.Errorf("thread %d: %s", i, diff)
			}
		}
		spaces = append(spaces, p.Space())
	}
	files := 0
	for _, a := range spaces[0].Images() {
		for _, b := range spaces[1].Images() {
			if a.Path == b.Path && a.Path != "[vdso]" {
				files++
				if a.Module == b.Module || !a.Module.SharesTables(b.Module) {
					t.Errorf("%s: the tables are not shared", a.Path)
				}
			}
		}
	}
	if got := cache.Stats(); files < 4 || got.Opened != files || got.Shared != files || got.Placed != files {
		t.Errorf("%d files: %+v", files, got)
	}
}

// TestRefresh walks at two stops of one process. The memory of the first one is not used at the second.
func TestRefresh(t *testing.T) {
	tgt, regs, want := deepProgram(t)
	p, client := newProcess(t, tgt, remote.Options{}, frames.AddressSpaceOptions{})
	client.open(p)
	client.asynchronous(p, regs)
	w := p.Walk(context.Background(), &regs[0], 0)
	if _, err := p.Refresh(context.Background(), nil); !errors.Is(err, remote.ErrBusy) {
		t.Errorf("refreshed during a walk: %v", err)
	}
	w.Close()
	task, err := p.Refresh(context.Background(), mappingsOf(t, tgt))
	if err != nil {
		t.Fatal(err)
	}
	client.run([]answering{task}, nil)
	before := client.mem.Stats().Rounds
	for i, got := range client.asynchronous(p, regs) {
		if diff := differ(got, want[i]); diff != "" {
			t.Errorf("thread %d: %s", i, diff)
		}
	}
	if client.mem.Stats().Rounds == before {
		t.Error("the memory of the stop before was used")
	}
	if err := p.Open(context.Background()); err.Next() != remote.Ended || err.Err() == nil {
		t.Error("opened twice")
	}
}

// TestDelays walks from several goroutines at once, each with its thread, while another one answers after
// a delay, in any order. Run with -race.
func TestDelays(t *testing.T) {
	tgt, regs, want := deepProgram(t)
	p, client := newProcess(t, tgt, remote.Options{Ahead: 1}, frames.AddressSpaceOptions{})
	client.open(p)
	ctx, cancel := context.WithCancel(context.Background())
	var server, walkers sync.WaitGroup
	server.Go(func() {
		for ctx.Err() == nil {
			wanted := client.mem.Wanted()
			for _, n := range client.mem.Needs() {
				server.Go(func() {
					time.Sleep(time.Duration(n.Addr>>12%5) * time.Millisecond)
					client.send(n.Addr, n.Size)
				})
			}
			select {
			case <-wanted:
			case <-ctx.Done():
			}
		}
	})
	for i := range regs {
		walkers.Go(func() {
			var got stackOf
			w := p.Walk(ctx, &regs[i], 0)
			for state := remote.Waiting; state != remote.Ended; {
				arrival := client.mem.Arrival()
				if state = w.Next(); state == remote.Found {
					got.frames = append(got.frames, w.Frame().Clone())
				} else if state == remote.Waiting {
					<-arrival
				}
			}
			got.end = w.End()
			if diff := differ(got, want[i]); diff != "" {
				t.Errorf("thread %d: %s", i, diff)
			}
		})
	}
	walkers.Wait()
	cancel()
	server.Wait()
}
