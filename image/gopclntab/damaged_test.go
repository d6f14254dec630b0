package gopclntab

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"dbg/image"
	"dbg/internal/fixture"
)

// TestDamaged overwrites parts of a table: nothing may panic or take long.
func TestDamaged(t *testing.T) {
	t.Parallel()
	fixture.Need(t, "go")
	exe := filepath.Join(t.TempDir(), "gofmt")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", exe, "cmd/gofmt")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	f, err := image.FromMemory("whole", data)
	if err != nil {
		t.Fatal(err)
	}
	s, ok := f.Section(".gopclntab")
	if !ok {
		t.Fatal("the program has no table")
	}
	rounds := 60
	if fixture.All() {
		rounds = 1000
	}
	r := rand.New(rand.NewPCG(7, 8))
	copied := make([]byte, len(data))
	opened := 0
	for range rounds {
		copy(copied, data)
		for range 1 + r.IntN(40) {
			at := r.Uint64N(s.Size)
			if r.IntN(200) == 0 {
				at = r.Uint64N(72) // the header
			}
			switch b := copied[s.Offset+at : s.Offset+min(at+4, s.Size)]; r.IntN(3) {
			case 0:
				b[0] ^= 1 << r.IntN(8)
			case 1:
				for i := range b {
					b[i] = byte(r.Uint32())
				}
			default:
				for i := range b {
					b[i] = 0xff
				}
			}
		}
		f, err := image.FromMemory("damaged", copied)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if table, err := Open(f); err == nil {
			opened++
			for i := range table.Len() {
				fn, ok := table.Func(i)
				if !ok {
					continue
				}
				fn.Calls(fn.Lo)
				fn.Calls((fn.Lo + fn.Hi) / 2)
				fn.SPDelta(fn.Hi - 1)
				table.Find(fn.Lo)
			}
		}
		if d := time.Since(began); d > 10*time.Second {
			t.Fatalf("a damaged table took %v", d)
		}
	}
	if opened < rounds/4 {
		t.Errorf("%d of %d damaged tables were opened", opened, rounds)
	}
}
