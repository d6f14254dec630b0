//go:build linux && amd64

package remote_test

import (
	"context"
	"testing"

	"dbg/frames"
	"dbg/frames/remote"
	"dbg/target/kinds"

	"dbg/internal/fixture"
)

// BenchmarkFrame measures a frame of a walk whose memory is there: what stopping at each frame costs.
func BenchmarkFrame(b *testing.B) {
	core := fixture.Core(b, fixture.Build(b, "remote/waits.cc", "-O1"), "2", "60", "dies")
	tgt, err := kinds.Open(kinds.Spec{Core: &kinds.Core{Path: core}})
	if err != nil {
		b.Fatal(err)
	}
	defer tgt.Close()
	all := registersOf(b, tgt)
	stacks := synchronous(b, tgt, all, frames.AddressSpaceOptions{})
	deepest := 0
	for i := range stacks {
		if len(stacks[i].frames) > len(stacks[deepest].frames) {
			deepest = i
		}
	}
	regs := all[deepest]
	p, client := newProcess(b, tgt, remote.Options{}, frames.AddressSpaceOptions{})
	client.open(p)
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		w := p.Walk(context.Background(), &regs, 0)
		for state := w.Next(); state != remote.Ended; state = w.Next() {
			if state == remote.Waiting {
				client.answer()
			} else {
				n++
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/frame")
}
