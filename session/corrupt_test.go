package session_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"dbg/frames"
	"dbg/internal/fixture"
	"dbg/session"
)

// trials is how often the tests of damage try: DBG_CORRUPT_TRIALS, or n.
func trials(t *testing.T, n int) int {
	if s := os.Getenv("DBG_CORRUPT_TRIALS"); s != "" {
		v, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	return n
}

// TestCorruptFiles changes random bytes of a core's headers and notes, and of the ELF header, the program headers
// and the section headers of its program: what comes is an error or less trust, never a panic, a walk without end,
// or a wrong frame that is called exact (but for frame 0, where the registers themselves were changed).
func TestCorruptFiles(t *testing.T) {
	n := trials(t, 40)
	for _, c := range []struct {
		source string
		flags  []string
		args   []string
	}{{"torture/chain.c", []string{"-O1"}, []string{"thread"}}, {"torture/crash.cc", []string{"-O1", "-static"}, nil}} {
		exe := filepath.Join(t.TempDir(), "program")
		data, err := os.ReadFile(fixture.Build(t, c.source, c.flags...))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(exe, data, 0o755); err != nil {
			t.Fatal(err)
		}
		core := fixture.Core(t, exe, c.args...)
		dump, err := os.ReadFile(core)
		if err != nil {
			t.Fatal(err)
		}
		want := walkOf(t, openCore(t, core, ""), 0)
		t.Run(c.source+"/core", func(t *testing.T) {
			headers, notes := coreParts(t, dump)
			damaged := filepath.Join(t.TempDir(), "core")
			corruptFile(t, n, dump, damaged, [][2]int{headers, notes}, want, func() (*session.Session, error) {
				s, _ := newSession(t)
				return s, s.OpenCore(damaged, "")
			})
		})
		t.Run(c.source+"/program", func(t *testing.T) {
			f, err := elf.NewFile(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			shoff := int(binary.LittleEndian.Uint64(data[40:]))
			parts := [][2]int{{0, 64}, {64, 64 + 56*len(f.Progs)}, {shoff, len(data)}}
			corruptFile(t, n, data, exe, parts, want, func() (*session.Session, error) {
				s, _ := newSession(t)
				return s, s.OpenCore(core, "")
			})
		})
	}
}

// coreParts are the ranges of a core's headers and of its notes.
func coreParts(t *testing.T, dump []byte) (headers, notes [2]int) {
	f, err := elf.NewFile(bytes.NewReader(dump))
	if err != nil {
		t.Fatal(err)
	}
	headers = [2]int{0, 64 + 56*len(f.Progs)}
	for _, p := range f.Progs {
		if p.Type == elf.PT_NOTE {
			notes = [2]int{int(p.Off), int(p.Off + p.Filesz)}
		}
	}
	return headers, notes
}

func corruptFile(t *testing.T, n int, data []byte, path string, parts [][2]int, want session.Backtrace, open func() (*session.Session, error)) {
	refused, differ, most := 0, 0, 0
	var wrong [4]int
	for i := range n {
		r := rand.New(rand.NewPCG(uint64(i), 11))
		bad := bytes.Clone(data)
		part := parts[r.IntN(len(parts))]
		for range 1 + r.IntN(2) {
			at := part[0] + r.IntN(part[1]-part[0])
			end := min(at+1+r.IntN(8), len(bad))
			switch r.IntN(3) {
			case 0:
				bad[at] ^= 1 << r.IntN(8)
			case 1:
				clear(bad[at:end])
			default:
				for j := at; j < end; j++ {
					bad[j] = byte(r.Uint32())
				}
			}
		}
		if err := os.WriteFile(path, bad, 0o755); err != nil {
			t.Fatal(err)
		}
		s, err := open()
		if err != nil {
			refused++
			s.Close()
			continue
		}
		threads, err := s.Threads()
		if err != nil || len(threads) == 0 {
			refused++
			s.Close()
			continue
		}
		same := true
		for k, th := range threads {
			bt, err := s.Backtrace(th.ID, 0, 5000)
			if err != nil {
				t.Logf("trial %d: %v", i, err)
				continue
			}
			if most = max(most, len(bt.Frames)); len(bt.Frames) >= 5000 {
				t.Errorf("trial %d: %d frames", i, len(bt.Frames))
			}
			if k > 0 {
				continue
			}
			// The registers, which the notes have, may be others now: then there is no truth to hold it against.
			if len(bt.Frames) > 0 && (bt.Frames[0].PC != want.Frames[0].PC || bt.Frames[0].Machine.Regs != want.Frames[0].Machine.Regs) {
				same = false
				continue
			}
			for j, f := range bt.Frames {
				if j < len(want.Frames) && f.PC == want.Frames[j].PC {
					continue
				}
				same = false
				wrong[f.Machine.Trust]++
				if f.Machine.Trust == frames.Exact {
					t.Errorf("trial %d: frame %d, %x, is called exact", i, j, uint64(f.PC))
				}
			}
			same = same && len(bt.Frames) == len(want.Frames)
		}
		if !same {
			differ++
		}
		s.Close()
	}
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d trials: %d refused, %d walks differ, wrong frames: %d exact, %d table, %d heuristic, %d guess; at most %d frames", n, refused, differ, wrong[0], wrong[1], wrong[2], wrong[3], most)
}
