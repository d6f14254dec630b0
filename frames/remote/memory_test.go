package remote

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"dbg/target"
)

// TestNeeds asks for ranges and holds what Needs returns.
func TestNeeds(t *testing.T) {
	m := NewMemory(Options{MaxOutstanding: 6})
	m.want(0x10ff8, 16, ahead, 0) // two pages
	m.want(0x30010, 8, urgent, 0) // comes first, and is returned by ascending address
	m.want(0x12000, 1, ahead, 0)  // next to the first two
	m.want(0x30010, 8, ahead, 0)  // asked for already
	m.want(0x7f000, 1<<20, ahead, 0)
	hold := func(want ...Need) {
		t.Helper()
		if got := m.Needs(); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	hold(Need{0x10000, 0x3000}, Need{0x30000, 0x1000}, Need{0x7f000, 0x2000})
	hold() // six pages are outstanding
	m.Supply(0x30000, make([]byte, 4096))
	m.Unreadable(0x11000, 4096)
	hold(Need{0x81000, 0x1000}) // no more pages ahead than may be outstanding
	m.Supply(0x10000, make([]byte, 4095))
	hold()
	m.Supply(0x10fff, make([]byte, 1))
	m.Retry(0x12000, 1)
	hold(Need{0x12000, 0x1000})
	if s := m.Stats(); s.Rounds != 3 || s.Pages != 8 || s.Needs != 5 {
		t.Errorf("%+v", s)
	}
	m.Forget()
	hold()
}

// TestRetried asks again for a page whose request has failed, and only for that.
func TestRetried(t *testing.T) {
	m := NewMemory(Options{})
	m.want(0x1000, 0x2000, urgent, 0)
	m.Needs()
	m.Supply(0x1000, make([]byte, 0x1000))
	m.Retry(0, 1<<40)
	if got := m.Needs(); !slices.Equal(got, []Need{{0x2000, 0x1000}}) {
		t.Errorf("%v", got)
	}
}

// TestHostile gives a Memory what no client should.
func TestHostile(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(m *Memory) error
		fail bool
	}{
		{"bytes beyond the address space", func(m *Memory) error { return m.Supply(1<<64-2, []byte{1, 2, 3}) }, true},
		{"bytes up to the end of the space", func(m *Memory) error { return m.Supply(1<<64-3, []byte{1, 2, 3}) }, false},
		{"no bytes", func(m *Memory) error { return m.Supply(1<<64-1, nil) }, false},
		{"nothing is unreadable", func(m *Memory) error { return m.Unreadable(5, 0) }, false},
		{"less than nothing is unreadable", func(m *Memory) error { return m.Unreadable(5, -1<<62) }, false},
		{"everything is unreadable", func(m *Memory) error { return m.Unreadable(0, 1<<62) }, true},
		{"unreadable beyond the address space", func(m *Memory) error { return m.Unreadable(1<<64-1, 2) }, true},
		{"retry of nothing", func(m *Memory) error { m.Retry(1<<64-1, -5); return nil }, false},
		{"retry of everything", func(m *Memory) error { m.Retry(1<<63, 1<<62); return nil }, false},
		{"pages that nobody wants", func(m *Memory) error { return m.Supply(0x1000, make([]byte, 1000*pageSize)) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := NewMemory(Options{MaxPages: 1, MaxOutstanding: 1})
			m.want(0x5000, 1, urgent, 0)
			m.Needs()
			if err := c.do(m); (err != nil) != c.fail {
				t.Errorf("%v", err)
			}
			if s := m.Stats(); s.Most > 66 {
				t.Errorf("%d pages, want at most 64 and one asked for", s.Most)
			}
			if m.outstanding < 0 || m.outstanding > 1 {
				t.Errorf("%d pages outstanding", m.outstanding)
			}
		})
	}
}

// TestAnswersFit asks for more than is kept: each range that Needs returns can be answered as a whole.
func TestAnswersFit(t *testing.T) {
	m := NewMemory(Options{MaxPages: 64})
	m.want(0x100000, 300*pageSize, urgent, 1)
	rounds := 0
	for needs := m.Needs(); len(needs) > 0; needs = m.Needs() {
		for _, n := range needs {
			if err := m.Unreadable(n.Addr, n.Size); err != nil {
				t.Fatal(err)
			}
		}
		if rounds++; rounds > 10 {
			t.Fatal("it does not end")
		}
	}
	if rounds == 0 {
		t.Error("nothing was wanted")
	}
}

// TestEndOfSpace reads the last bytes of the address space, and beyond.
func TestEndOfSpace(t *testing.T) {
	m := NewMemory(Options{})
	m.want(1<<64-4, 100, urgent, 0)
	if got := m.Needs(); !slices.Equal(got, []Need{{1<<64 - 4096, 4096}}) {
		t.Errorf("%x", got)
	}
	m.Supply(1<<64-4, []byte{1, 2, 3, 4})
	buf := make([]byte, 8)
	if n, missing, err := m.read(1<<64-4, buf, 8); n != 4 || missing || err == nil {
		t.Errorf("%d, %v, %v", n, missing, err)
	}
}

// FuzzMemory holds a Memory against one that knows each byte: whatever comes, in whichever order, a read gives
// what came first for a byte, and is missing exactly if something before the first unreadable byte is.
func FuzzMemory(f *testing.F) {
	f.Add(uint64(1), 100)
	f.Add(uint64(2), 1000)
	f.Fuzz(func(t *testing.T, seed uint64, steps int) { model(t, seed, steps%2000) })
}

func TestModel(t *testing.T) {
	for seed := range uint64(30) {
		model(t, seed, 500)
	}
}

func model(t *testing.T, seed uint64, steps int) {
	const base, size = 0x10000, 6 * pageSize
	type state uint8
	const (
		unknown state = iota
		readable
		unreadable
	)
	r := rand.New(rand.NewPCG(seed, 2))
	m := NewMemory(Options{MaxOutstanding: 4})
	var known [size]state
	var data [size]byte
	for range steps {
		off := r.IntN(size)
		n := 1 + r.IntN(min(size-off, []int{8, 100, 5000, size}[r.IntN(4)]))
		at := target.Addr(base + off)
		switch r.IntN(5) {
		case 0:
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(r.Uint32())
				if known[off+i] == unknown {
					known[off+i], data[off+i] = readable, b[i]
				}
			}
			m.Supply(at, b)
		case 1:
			if r.IntN(4) != 0 {
				continue
			}
			for i := range n {
				if known[off+i] == unknown {
					known[off+i] = unreadable
				}
			}
			m.Unreadable(at, n)
		case 2:
			m.want(at, uint64(n), demand(1+r.IntN(2)), 0)
			m.Needs()
		case 3:
			m.Retry(at, n)
		case 4:
			need := 1 + r.IntN(n)
			buf := make([]byte, n)
			got, missing, err := m.read(at, buf, need)
			want := 0
			for want < n && known[off+want] == readable {
				want++
			}
			if wantMissing := want < need && known[off+want] == unknown; missing != wantMissing {
				t.Fatalf("%d of %d bytes at %v: missing %v, want %v", need, n, at, missing, wantMissing)
			} else if missing {
				continue
			}
			if got != want || (err == nil) != (want == n) || !bytes.Equal(buf[:got], data[off:off+got]) {
				t.Fatalf("%d bytes at %v: %d, %v, want %d", n, at, got, err, want)
			}
		}
		if m.outstanding < 0 || m.outstanding > 4 {
			t.Fatalf("%d pages outstanding", m.outstanding)
		}
	}
}
