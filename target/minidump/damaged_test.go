package minidump_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"dbg/target/minidump"
	"dbg/target/minidump/dumptest"
)

// TestDamaged changes random bytes and words of whole dumps. Each dump opens or is refused within a
// short time.
func TestDamaged(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	whole, of := everything(), linux()
	seeds := [][]byte{whole.Bytes(), of.Bytes()}
	for i := range 3000 {
		b := append([]byte(nil), seeds[i%2]...)
		for range 1 + rnd.IntN(6) {
			at := rnd.IntN(len(b) - 8)
			switch rnd.IntN(3) {
			case 0:
				b[at] = byte(rnd.Uint32())
			case 1:
				copy(b[at:], []byte{0xff, 0xff, 0xff, 0xff})
			default:
				b[at&^3], b[at&^3+1] = byte(rnd.Uint32()), byte(rnd.Uint32())
			}
		}
		start := time.Now()
		d, err := minidump.FromBytes(b, minidump.Options{FindFile: func(string, string) []string { return nil }})
		if err != nil {
			continue
		}
		ask(d)
		d.Close()
		if took := time.Since(start); took > time.Second {
			t.Fatalf("round %d took %v", i, took)
		}
	}
}

// TestTextBudget: thousands of entries that name one long string do not multiply it.
func TestTextBudget(t *testing.T) {
	var dump dumptest.Dump
	dump.System = &dumptest.System{Processor: 9, Platform: 2}
	dump.Threads = []dumptest.Thread{{ID: 1}}
	for i := range 4000 {
		dump.Handles = append(dump.Handles, dumptest.Handle{Value: uint64(i), Type: strings.Repeat("x", 1<<15)})
	}
	d, err := minidump.FromBytes(dump.Bytes(), minidump.Options{})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for range 2 {
		total = 0
		for _, n := range d.Notes() {
			total += len(n.Text)
		}
	}
	if total > 1<<23+1<<12 || total < 1<<22 {
		t.Errorf("the notes have %d bytes", total)
	}
}
