package session

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"dbg/eval"
	"dbg/internal/fixture"
	"dbg/target"
)

// damagedEnv reads memory of which some words have other values, and counts what is read.
type damagedEnv struct {
	*env
	other       map[target.Addr]byte
	reads, size int
}

func (e *damagedEnv) ReadMemory(a target.Addr, b []byte) (int, error) {
	e.reads++
	e.size += len(b)
	n, err := e.env.ReadMemory(a, b)
	if len(b) < 1<<16 {
		for i := range b[:max(n, 0)] {
			if c, ok := e.other[a+target.Addr(i)]; ok {
				b[i] = c
			}
		}
	} else {
		for at, c := range e.other {
			if at >= a && at < a+target.Addr(n) {
				b[at-a] = c
			}
		}
	}
	return n, err
}

func (e *damagedEnv) View(v Value) eval.View { return e.s.views.View(v, e) }

// TestRustDamaged shows maps with random damage: in the structure itself, in the control bytes, and
// in the nodes. Each is shown soon, with few reads and little memory.
func TestRustDamaged(t *testing.T) {
	exe := fixture.Build(t, "view/rust.rs", "-g", "--edition=2021")
	core := fixture.Core(t, exe, filepath.Join(t.TempDir(), "said"))
	s := New(Config{})
	defer s.Close()
	if err := s.OpenCore(core, ""); err != nil {
		t.Fatal(err)
	}
	thread := s.LastStop().Thread
	bt, err := s.Backtrace(thread, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	level := -1
	for i, f := range bt.Frames {
		if f.FunctionName == "rust::main" {
			level = i
		}
	}
	seed := uint64(7)
	if text := os.Getenv("DBG_SEED"); text != "" {
		fmt.Sscan(text, &seed)
	}
	for _, name := range []string{"hm3", "hmbig", "hmgone", "hsbig", "bm30", "bmbig", "bmgone", "bsbig"} {
		t.Run(name, func(t *testing.T) {
			s.damage(t, thread, level, name, rand.New(rand.NewPCG(seed, 1)))
		})
	}
}

// damage shows a variable 500 times with random damage: 2,000 of hash tables and 2,000 of trees.
func (s *Session) damage(t *testing.T, thread target.ThreadID, level int, name string, random *rand.Rand) {
	plain := s.env(thread, level)
	v, err := plain.Variable(name)
	if err != nil || !v.HasAddr {
		t.Fatal(err)
	}
	v = eval.Value{Type: v.Type, Addr: v.Addr, HasAddr: true} // not read yet
	eval.Format(v, plain, eval.DefaultOptions())              // what is made once for each type is made now
	seen := &watchedEnv{env: plain}
	eval.Format(v, seen, eval.DefaultOptions())
	var slowest, all time.Duration
	mostReads, mostBytes, invalid := 0, 0, 0
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for round := range 500 {
		e := &damagedEnv{env: s.env(thread, level), other: map[target.Addr]byte{}}
		for range 1 + random.IntN(3) {
			place := seen.places[random.IntN(len(seen.places))]
			if random.IntN(2) == 0 {
				place = seen.places[random.IntN(min(6, len(seen.places)))]
			}
			at := place.a + target.Addr(random.IntN(max(place.n/8, 1))*8)
			word := make([]byte, 8)
			u := random.Uint64()
			switch random.IntN(5) {
			case 0:
				u = 0
			case 1:
				u >>= random.IntN(64)
			case 2:
				u = ^uint64(0)
			case 3: // another address of the program
				u = uint64(seen.places[random.IntN(len(seen.places))].a)
			}
			binary.LittleEndian.PutUint64(word, u)
			for i := range 1 + random.IntN(8) {
				e.other[at+target.Addr(i)] = word[i]
			}
		}
		start := time.Now()
		text := eval.Format(v, e, eval.DefaultOptions())
		eval.Children(v, e, 0, 100)
		took := time.Since(start)
		all += took
		slowest, mostReads, mostBytes = max(slowest, took), max(mostReads, e.reads), max(mostBytes, e.size)
		if len(text) > 1<<20 {
			t.Errorf("round %d: a text of %d bytes", round, len(text))
		}
		if text[0] == '<' {
			invalid++
		}
	}
	runtime.ReadMemStats(&after)
	each := (after.TotalAlloc - before.TotalAlloc) / 500
	t.Logf("%s: %v each, at most %v, %d reads and %d bytes; %d bytes of memory each; %d of 500 are not valid", name, all/500, slowest, mostReads, mostBytes, each, invalid)
	// A table of 2^24 buckets may be looked at, in pages.
	if mostReads > 10_000 || mostBytes > 40<<20 {
		t.Errorf("%d reads of %d bytes", mostReads, mostBytes)
	}
	// 10 ms are enough for each; the test may share its machine with others.
	if slowest > 2*time.Second || all/500 > 50*time.Millisecond {
		t.Errorf("%v each, at most %v", all/500, slowest)
	}
	if each > 8<<20 {
		t.Errorf("%d bytes of memory each", each)
	}
}

// watchedEnv notes what is read.
type watchedEnv struct {
	*env
	places []readPlace
}

type readPlace struct {
	a target.Addr
	n int
}

func (e *watchedEnv) ReadMemory(a target.Addr, b []byte) (int, error) {
	e.places = append(e.places, readPlace{a, len(b)})
	return e.env.ReadMemory(a, b)
}

func (e *watchedEnv) View(v Value) eval.View { return e.s.views.View(v, e) }
