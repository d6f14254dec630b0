//go:build linux && amd64

package remote_test

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"dbg/frames"
	"dbg/frames/remote"
	"dbg/internal/fixture"
	"dbg/target"
	"dbg/target/kinds"
)

// programs crash or wait, and have stacks of many kinds.
var programs = []struct {
	source string
	flags  []string
	args   []string
	live   bool
}{
	{"torture/chain.c", []string{"-O0"}, nil, false},
	{"torture/chain.c", []string{"-O2", "-fomit-frame-pointer"}, []string{"thread"}, false},
	{"torture/crash.cc", []string{"-O2", "-fomit-frame-pointer"}, nil, false},
	{"c/handler.c", []string{"-O1"}, []string{"altstack"}, false},
	{"c/threads8.c", []string{"-O2"}, nil, false},
	{"remote/waits.cc", []string{"-O1"}, []string{"100", "11", "dies"}, false},
	{"remote/waits.go", nil, []string{"dies"}, false},
	{"remote/waits.rs", []string{"-O"}, []string{"dies"}, false},
	{"remote/waits.cc", []string{"-O0"}, nil, true},
	{"remote/waits.cc", []string{"-O2", "-fomit-frame-pointer"}, []string{"40"}, true},
	{"remote/waits.cc", []string{"-O2", "-static"}, []string{"3"}, true},
	{"remote/waits.go", nil, nil, true},
	{"remote/waits.rs", []string{"-O"}, nil, true},
}

func openProgram(t *testing.T, source string, flags, args []string, live bool) target.Target {
	t.Helper()
	exe := fixture.Build(t, source, flags...)
	var tgt target.Target
	var err error
	if live {
		cmd := exec.Command(exe, args...)
		out, outErr := cmd.StdoutPipe()
		_, inErr := cmd.StdinPipe() // it must not end
		if err := errors.Join(outErr, inErr); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			cmd.Process.Kill()
			cmd.Wait()
		})
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			t.Fatalf("%q, %v", line, err)
		}
		tgt, err = kinds.Open(kinds.Spec{Attach: &kinds.Attach{PID: cmd.Process.Pid}})
	} else {
		tgt, err = kinds.Open(kinds.Spec{Core: &kinds.Core{Path: fixture.Core(t, exe, args...)}})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tgt.Close() })
	return tgt
}

// TestSame walks all stacks of dead and of live programs with memory that comes later: at once, and late,
// torn, out of order and with failures. The frames are those of the synchronous walk.
func TestSame(t *testing.T) {
	for _, c := range programs {
		t.Run(strings.Join(append(append([]string{c.source}, c.flags...), c.args...), " "), func(t *testing.T) {
			tgt := openProgram(t, c.source, c.flags, c.args, c.live)
			regs := registersOf(t, tgt)
			want := synchronous(t, tgt, regs, frames.AddressSpaceOptions{})
			cache := frames.NewModuleCache(100)
			t.Cleanup(func() { cache.Close() })
			for seed := range uint64(8) {
				opt := remote.Options{}
				p, client := newProcess(t, tgt, opt, frames.AddressSpaceOptions{Cache: cache})
				if seed > 0 {
					client.rand = rand.New(rand.NewPCG(seed, 1))
				}
				client.open(p)
				opened := client.mem.Stats()
				got := client.asynchronous(p, regs)
				deepest := 0
				for i := range want {
					if diff := differ(got[i], want[i]); diff != "" {
						t.Errorf("seed %d, thread %d: %s", seed, i, diff)
					}
					deepest = max(deepest, len(want[i].frames))
				}
				if s := client.mem.Stats(); seed == 0 {
					t.Logf("%d threads, at most %d frames: opened in %d rounds, %d pages; walked in %d rounds, %d pages",
						len(regs), deepest,
						opened.Rounds, opened.Pages, s.Rounds-opened.Rounds, s.Pages-opened.Pages)
					if opened.Rounds > 1 {
						t.Errorf("%d rounds for opening", opened.Rounds)
					}
				}
			}
		})
	}
}

// mostRounds is how often a client may have to fetch memory for one stack of any program here.
const mostRounds = 5

// TestRounds walks each stack alone, with nothing that other walks have fetched, and counts the rounds.
func TestRounds(t *testing.T) {
	deep, walks, rounds, pages := 0, 0, 0, 0
	for _, c := range programs {
		tgt := openProgram(t, c.source, c.flags, c.args, c.live)
		regs := registersOf(t, tgt)
		cache := frames.NewModuleCache(100)
		t.Cleanup(func() { cache.Close() })
		for i := range regs[:min(len(regs), 12)] {
			p, client := newProcess(t, tgt, remote.Options{}, frames.AddressSpaceOptions{Cache: cache})
			client.open(p)
			before := client.mem.Stats()
			got := client.asynchronous(p, regs[i:i+1])[0]
			n := client.mem.Stats().Rounds - before.Rounds
			if n > mostRounds || got.waits > mostRounds {
				t.Errorf("%s %v %v, thread %d: %d rounds, %d waits for %d frames",
					c.source, c.flags, c.args, i, n, got.waits, len(got.frames))
			}
			if walks++; len(got.frames) >= 50 {
				deep++
			}
			rounds, pages = rounds+n, pages+client.mem.Stats().Pages-before.Pages
		}
	}
	t.Logf("%d walks, %d of 50 frames or more: %.2f rounds and %.1f pages each",
		walks, deep, float64(rounds)/float64(walks), float64(pages)/float64(walks))
	if deep < 10 {
		t.Errorf("only %d stacks of 50 frames", deep)
	}
}

// TestManyLibraries walks a stack through 48 libraries. Each call goes through a slot of another library's
// global offset table, which the walk reads to prove the frame: the pages of all slots are asked for at once.
func TestManyLibraries(t *testing.T) {
	const libraries = 48
	var list []string
	for i := range libraries {
		next := fmt.Sprintf("step%d", i+1)
		if i == libraries-1 {
			next = "last"
		}
		list = append(list, fixture.Build(t, "remote/link.c", "-O1", "-shared", "-fPIC",
			fmt.Sprintf("-DSELF=step%d", i), "-DNEXT="+next))
	}
	tgt := openProgram(t, "remote/link.c", []string{"-O1", "-rdynamic", "-ldl"}, list, false)
	regs := registersOf(t, tgt)
	want := synchronous(t, tgt, regs, frames.AddressSpaceOptions{})
	p, client := newProcess(t, tgt, remote.Options{}, frames.AddressSpaceOptions{})
	client.open(p)
	before := client.mem.Stats()
	got := client.asynchronous(p, regs)[0]
	if diff := differ(got, want[0]); diff != "" {
		t.Error(diff)
	}
	exact := 0
	for _, f := range got.frames {
		if f.Trust == frames.Exact {
			exact++
		}
	}
	s := client.mem.Stats()
	t.Logf("%d frames, %d of them exact: %d rounds, %d pages",
		len(got.frames), exact, s.Rounds-before.Rounds, s.Pages-before.Pages)
	if len(got.frames) < 50 || exact < libraries {
		t.Errorf("%d frames, %d of them exact, want 50 and %d", len(got.frames), exact, libraries)
	}
	if n := s.Rounds - before.Rounds; n > mostRounds {
		t.Errorf("%d rounds, want at most %d", n, mostRounds)
	}
}
