package ptrace

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"dbg/internal/fixture"
	"dbg/target"
)

// family counts what the processes of a tree do.
type family struct {
	mu      sync.Mutex // guards all fields
	kept    int
	stops   int
	exits   map[int]int // by exit code
	killed  int
	wrong   []string
	running sync.WaitGroup
}

// watch resumes a process until it ends, and does the same for its children.
func (f *family) watch(p target.Process, policy target.ChildPolicy, site target.Addr) {
	defer f.running.Done()
	defer p.Close()
	fail := func(format string, args ...any) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.wrong = append(f.wrong, fmt.Sprintf("process %d: ", p.PID())+fmt.Sprintf(format, args...))
	}
	child := func(q target.Process) {
		f.mu.Lock()
		f.kept++
		f.mu.Unlock()
		f.running.Add(1)
		go f.watch(q, policy, site)
	}
	p.CatchEvents(target.EventSet{Children: policy})
	if site != 0 {
		if err := p.InsertBreakpoint(site); err != nil {
			fail("%v", err)
		}
	}
	if err := p.Resume(target.Resume{}); err != nil {
		fail("%v", err)
	}
	for e := range p.Events() {
		if e.Process != nil {
			if policy == target.FollowChildren && e.Kind != target.Stopped {
				fail("%+v", e)
			}
			child(e.Process)
		}
		switch e.Kind {
		case target.Stopped:
			switch {
			case e.Reason == target.Breakpoint:
				f.mu.Lock()
				f.stops++
				f.mu.Unlock()
			case e.Reason == target.ChildCreated && policy == target.FollowChildren && e.Process != nil:
			case e.Reason == target.Signalled && e.Signal.Number == 11:
			default:
				fail("%+v", e)
			}
			if err := p.Resume(target.Resume{}); err != nil {
				fail("%v", err)
			}
		case target.Exited:
			f.mu.Lock()
			f.exits[e.ExitCode]++
			f.mu.Unlock()
		case target.Killed:
			f.mu.Lock()
			f.killed++
			f.mu.Unlock()
		}
	}
}

// TestKeptChildren runs a tree of 210 processes, each of which is kept and has a site: each is
// reported once, hits its site once, and ends as it does without a debugger.
func TestKeptChildren(t *testing.T) {
	t.Parallel()
	exe := fixture.Build(t, "c/forktree.c", "-g", "-O0", "-no-pie")
	site := symbolIn(t, exe, "work")
	for name, policy := range map[string]target.ChildPolicy{"keep": target.KeepChildren, "follow": target.FollowChildren} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			p, err := Launch(LaunchOptions{Path: exe, Args: strings.Fields("10 4 4 crash 77"), Stdout: w})
			w.Close()
			if err != nil {
				t.Fatal(err)
			}
			f := &family{exits: map[int]int{}}
			f.running.Add(1)
			f.watch(p, policy, site)
			f.running.Wait()
			text, _ := io.ReadAll(r)
			for _, s := range f.wrong {
				t.Error(s)
			}
			// The crash makes one process of each level exit with 1.
			if f.kept != 210 || f.stops != 211 || f.killed != 1 || f.exits[0] != 207 || f.exits[1] != 3 || strings.TrimSpace(string(text)) != "210" {
				t.Errorf("%d kept, %d stops, %d killed, exits %v, output %q", f.kept, f.stops, f.killed, f.exits, text)
			}
		})
	}
}
