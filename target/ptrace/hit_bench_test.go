package ptrace

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"dbg/target"
)

// BenchmarkFalseHit is what a hit costs that the judge lets pass, alone and beside other threads.
func BenchmarkFalseHit(b *testing.B) {
	for _, c := range []struct {
		name    string
		mode    string
		threads int
	}{{"alone", "idle", 0}, {"beside 1000 idle threads", "idle", 1000}, {"8 busy threads", "threads", 8}} {
		b.Run(c.name, func(b *testing.B) {
			file := filepath.Join(b.TempDir(), "counters")
			if err := os.WriteFile(file, make([]byte, 4096), 0o600); err != nil {
				b.Fatal(err)
			}
			exe := stormProgram(b)
			p, err := Launch(LaunchOptions{Path: exe, Args: []string{c.mode, file, "-1", strconv.Itoa(c.threads)}})
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			var hits atomic.Int64
			p.SetJudge(func(*target.Hit) target.Verdict { hits.Add(1); return target.Pass })
			if err := p.InsertBreakpoint(symbolIn(b, exe, "place")); err != nil {
				b.Fatal(err)
			}
			if err := p.Resume(target.Resume{}); err != nil {
				b.Fatal(err)
			}
			go func() {
				for range p.Events() {
				}
			}()
			for hits.Load() < 100 {
				runtime.Gosched()
			}
			b.ResetTimer()
			begin := hits.Load()
			for hits.Load() < begin+int64(b.N) {
				time.Sleep(50 * time.Microsecond) // the benchmark's thread must not take a core
			}
		})
	}
}
