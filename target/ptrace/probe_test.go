package ptrace

import (
	"testing"

	"dbg/arch"
	"dbg/internal/fixture"
	"dbg/target"
)

// BenchmarkProbe measures an instruction under a probe that compares one word.
func BenchmarkProbe(b *testing.B) {
	exe := fixture.Build(b, "c/softwatch.c", "-g", "-O0", "-no-pie", "-pthread")
	at := symbolIn(b, exe, "watched")
	p, err := Launch(LaunchOptions{Path: exe, Args: []string{"loop"}})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	main := symbolIn(b, exe, "main")
	if err := p.InsertBreakpoint(main); err != nil {
		b.Fatal(err)
	}
	if err := p.Resume(target.Resume{}); err != nil {
		b.Fatal(err)
	}
	<-p.Events()
	checks := 0
	var buf [8]byte
	stop := make(chan struct{})
	probe := &target.Probe{Check: func(target.ThreadID, *arch.Registers) bool {
		_, _ = p.ReadMemory(at, buf[:])
		if checks++; checks == b.N {
			close(stop)
		}
		return false
	}}
	if err := p.SetProbe(probe); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	if err := p.Resume(target.Resume{}); err != nil {
		b.Fatal(err)
	}
	<-stop
}
