package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dbg/eval"
	"dbg/internal/fixture"
	"dbg/session"
	"dbg/target"
	"dbg/target/kinds"
)

// countingProcess counts what is read of a process.
type countingProcess struct {
	target.Process
	reads, bytes int
}

func (p *countingProcess) ReadMemory(a target.Addr, buf []byte) (int, error) {
	p.reads, p.bytes = p.reads+1, p.bytes+len(buf)
	return p.Process.ReadMemory(a, buf)
}

// AuxvBytes implements target.AuxvReader, which the session asks for.
func (p *countingProcess) AuxvBytes() []byte { return p.Process.(target.AuxvReader).AuxvBytes() }

// TestDamagedContainers shows 2,000 containers of each kind whose memory is damaged. Each costs no more
// than a page of children.
func TestDamagedContainers(t *testing.T) {
	for _, b := range []struct {
		name  string
		flags []string
	}{
		{"libstdc++", []string{"-std=c++17", "-g", "-O0"}},
		{"libstdc++-oldabi", []string{"-std=c++17", "-g", "-O0", "-D_GLIBCXX_USE_CXX11_ABI=0"}},
		{"libc++", []string{"cc=clang++-19", "-stdlib=libc++", "-std=c++17", "-g", "-O0", "-fno-limit-debug-info"}},
	} {
		t.Run(b.name, func(t *testing.T) { damagedContainers(t, b.flags) })
	}
}

func damagedContainers(t *testing.T, flags []string) {
	exe := fixture.Build(t, "view/damaged.cc", flags...)
	opened, err := kinds.Open(kinds.Spec{Launch: &kinds.Launch{Path: exe, Stdin: null(t), Stdout: null(t), Stderr: null(t)}})
	if err != nil {
		t.Fatal(err)
	}
	p := &countingProcess{Process: opened.(target.Process)}
	s, events := newSession(t)
	c := &caller{s, t, events, 0}
	c.must(s.Load(session.Program{Path: exe}))
	c.must(s.Adopt(p))
	c.breakAt(session.LocationSpec{Function: "stop"})
	c.must(s.Continue(0))
	c.thread = until[session.Stopped](t, events).Thread
	count := 300
	if fixture.All() {
		count = 2000
	}
	const (
		mostRead = 1 << 20 // a page of children: 200 strings or nodes, each in a piece of 4 KiB of its own
		mostTime = 10 * time.Millisecond
	)
	for _, kind := range []string{"vectors", "texts", "strings", "maps", "sets", "tables", "lists", "forwards", "deques"} {
		t.Run(kind, func(t *testing.T) {
			var times []time.Duration
			var reads, bytes, invalid, broken int
			for i := range count {
				name := fmt.Sprintf("%s[%d].value", kind, i)
				p.reads, p.bytes = 0, 0
				start := time.Now()
				v, err := s.Evaluate(c.thread, 1, name)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				text := s.Format(v, eval.DefaultOptions())
				times = append(times, time.Since(start))
				switch {
				case strings.HasPrefix(text, "<not a valid std::"):
					invalid++
				case strings.Contains(text, "<"):
					broken++
				}
				if p.bytes > mostRead {
					t.Errorf("%s: %d reads of %d bytes: %s", name, p.reads, p.bytes, clip(text, text))
				}
				reads, bytes = max(reads, p.reads), max(bytes, p.bytes)
			}
			slices.Sort(times)
			t.Logf("%d invalid, %d with an element that can't be shown; at most %d reads, %d bytes; time: median %v, 99%% %v, worst %v",
				invalid, broken, reads, bytes, times[count/2], times[count*99/100], times[count-1])
			// On a busy machine some wait for the processor.
			if times[count/2] > mostTime || times[count-1] > 100*mostTime {
				t.Errorf("half took more than %v, the worst %v", times[count/2], times[count-1])
			}
		})
	}
}
