package session

import (
	"testing"

	"dbg/arch"
)

// TestTraceBufferBounds: a buffer keeps the newest records within its limit, and says how many it
// has dropped.
func TestTraceBufferBounds(t *testing.T) {
	b := &traceBuffer{most: 1 << 20}
	p := &tracePlace{buffer: b, items: []traceItem{{text: "$regs", regs: true}}}
	b.places = []*tracePlace{p}
	regs := &arch.Registers{Arch: arch.AMD64}
	const hits = 50_000
	for i := range hits {
		regs.Set(arch.AMD64.General[0], uint64(i))
		p.record(1, regs, nil)
	}
	if b.size > b.most+2*traceChunkSize {
		t.Errorf("%d bytes", b.size)
	}
	last := b.lost
	n := uint64(0)
	for from := uint64(1); ; from = last + 1 {
		list, lost := b.list(from, 1000, func(*tracePlace, *traceItem, []byte) string { return "" })
		if lost != b.lost || len(list) == 0 {
			break
		}
		for _, r := range list {
			if r.Number != last+1 {
				t.Fatalf("record %d after %d", r.Number, last)
			}
			last = r.Number
			n++
		}
	}
	if b.lost == 0 || b.lost+n != hits || last != hits {
		t.Errorf("%d lost, %d kept, the last is %d", b.lost, n, last)
	}
}
