package session

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/target"
)

// TestParseStat: the name of a process may contain blanks and parentheses.
func TestParseStat(t *testing.T) {
	p, err := parseStat("12 (a) b (c) S 1 12 11 0 -1 4194560 1 2 3 4 5 6 7 8 20 -5 1 0 33 44 55\n")
	if err != nil || p.Name != "a) b (c" || p.PID != 12 || p.PPID != 1 || p.PGID != 12 || p.SID != 11 || p.State != 'S' || p.Nice != -5 || p.Flags != 4194560 {
		t.Errorf("%+v, %v", p, err)
	}
	for _, text := range []string{"", "1", "1 (", "1 )(", "1 (a) S", "x (a) S 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0"} {
		if p, err := parseStat(text); err == nil {
			t.Errorf("%q is read as %+v", text, p)
		}
	}
}

// TestRecords: files in the two formats of records are read as they were written, and a changed
// character is noticed or harmless.
func TestRecords(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, format := range []MemoryFormat{SRecord, IntelHex} {
		for _, lo := range []uint64{0, 0xfff8, 0x12fff9, 0x7ffffff0} {
			data := make([]byte, 1+r.IntN(100))
			for i := range data {
				data[i] = byte(r.Uint32())
			}
			var file bytes.Buffer
			w, err := newMemoryWriter(&file, format, "name", lo, lo+uint64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			for rest := data; len(rest) > 0; {
				n := min(len(rest), 1+r.IntN(40))
				if _, err := w.Write(rest[:n]); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if err := w.finish(); err != nil {
				t.Fatal(err)
			}
			var got []byte
			upper := uint64(0)
			for line := range strings.Lines(file.String()) {
				at, b, err := parseRecord([]byte(line), &upper)
				if err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				if len(b) > 0 && at != lo+uint64(len(got)) {
					t.Fatalf("%q is at %#x, want %#x", line, at, lo+uint64(len(got)))
				}
				got = append(got, b...)
			}
			if !bytes.Equal(got, data) {
				t.Errorf("at %#x: %x became %x", lo, data, got)
			}
			for range 2000 { // nothing may panic
				line := bytes.Clone(file.Bytes()[:min(file.Len(), 60)])
				line[r.IntN(len(line))] = byte(r.Uint32())
				_, _, _ = parseRecord(line[:r.IntN(len(line))], &upper)
			}
		}
	}
}

// TestCycles: a thread that waits for a member of a cycle is no part of it.
func TestCycles(t *testing.T) {
	graph := func(edges ...target.ThreadID) (out []Wait) {
		for i, to := range edges {
			out = append(out, Wait{Thread: ThreadInfo{Number: i + 1, ID: target.ThreadID(i + 1)}, Kind: WaitMutex, Holder: to})
		}
		return out
	}
	for _, c := range []struct {
		edges []target.ThreadID // thread i+1 waits for
		want  string
	}{
		{nil, ""},
		{[]target.ThreadID{0, 1, 2}, ""},
		{[]target.ThreadID{1}, "[1]"},
		{[]target.ThreadID{2, 1}, "[1 2]"},
		{[]target.ThreadID{2, 3, 2, 1, 99}, "[2 3]"},
		{[]target.ThreadID{3, 4, 1, 2, 5}, "[1 3][2 4][5]"},
		{[]target.ThreadID{4, 1, 4, 3}, "[3 4]"},
	} {
		got := ""
		for _, cycle := range cycles(graph(c.edges...)) {
			var ids []string
			for _, w := range cycle {
				ids = append(ids, string(rune('0'+w.Thread.Number)))
			}
			got += "[" + strings.Join(ids, " ") + "]"
		}
		if got != c.want {
			t.Errorf("%v has the cycles %s, want %s", c.edges, got, c.want)
		}
	}
	timed := graph(2, 1)
	timed[0].Timed = true
	if got := cycles(timed); len(got) != 0 {
		t.Errorf("a wait that ends by itself is part of the deadlock %+v", got)
	}
}

// TestSystemCallTable: the kinds of arguments are those that argumentText knows.
func TestSystemCallTable(t *testing.T) {
	for n, c := range systemCalls {
		if c.name == "" || len(c.args) > 6 || strings.Trim(c.args, "abnimopfFOsPtcurMWwx?") != "" {
			t.Errorf("system call %d is %+v", n, c)
		}
	}
	if c := systemCalls[sysFutex]; c.name != "futex" || len(c.args) != 6 {
		t.Errorf("%+v", c)
	}
}

// TestHostileWaits: arguments of system calls, and locks, may be anything.
func TestHostileWaits(t *testing.T) {
	s := New(Config{})
	defer s.Close()
	r := rand.New(rand.NewPCG(3, 4))
	m := &randomMemory{r: r}
	s.tgt = m
	defer func() { s.tgt = nil }()
	o := &owners{s: s, threads: map[uint32]target.ThreadID{1: 1}}
	for range 20000 {
		v := r.Uint64() >> r.IntN(64)
		for _, kind := range []byte("abnimopFOsPtcurMWwx?") {
			_ = s.argumentText(kind, v)
		}
		for _, o.libc = range []libc{unknownLibc, glibc, musl} {
			o.mutex(target.Addr(v))
			o.rwlock(target.Addr(v), WaitWriteLock)
			o.joined(target.Addr(v), uint32(v))
			o.condition(target.Addr(v))
		}
	}
}

// randomMemory is a target of which only the memory is read.
type randomMemory struct {
	target.Target
	r *rand.Rand
}

func (m *randomMemory) ReadMemory(a target.Addr, b []byte) (int, error) {
	n := m.r.IntN(len(b) + 1)
	for i := range b[:n] {
		b[i] = byte(m.r.Uint32N(3))
	}
	if n < len(b) {
		return n, &target.MemoryError{Addr: a + target.Addr(n)}
	}
	if len(b) == 4 && m.r.IntN(2) == 0 {
		binary.LittleEndian.PutUint32(b, m.r.Uint32())
	}
	return n, nil
}

func (m *randomMemory) Registers(target.ThreadID) (arch.Registers, error) {
	r := arch.Registers{Arch: arch.AMD64}
	r.Set(arch.FSBase, m.r.Uint64())
	return r, nil
}
